//! Versions of compilers and interpreters, by asking them.

use std::ffi::{OsStr, OsString};

use fathom_base::process::{Finished, Program, find_program, run};
use fathom_base::{Cancel, Nanos};
use fathom_model::Platform;

/// A version is told at once or not at all.
const TIMEOUT: Nanos = Nanos::from_secs(10);
const OUTPUT_LIMIT: usize = 64 << 10;

/// Asks every program that is there, all at the same time: some take a third of a second.
pub(super) fn add_versions(search: &OsStr, platform: &mut Platform) {
    const QUESTIONS: [(&str, &str); 5] = [
        ("gcc", "-v"),
        ("clang", "--version"),
        ("python", "-V"),
        ("python3", "-V"),
        ("java", "-version"),
    ];
    let [gcc, clang, python, python3, java] = std::thread::scope(|scope| {
        let asked = QUESTIONS.map(|(name, option)| scope.spawn(move || ask(search, name, option)));
        asked.map(|thread| thread.join().ok().flatten().unwrap_or_default())
    });
    let compilers: Vec<String> = [gcc_version(&gcc), clang_version(&clang)]
        .into_iter()
        .flatten()
        .collect();
    platform.compiler = (!compilers.is_empty()).then(|| compilers.join(" + "));
    platform.compiler_options = gcc_options(&gcc);
    let mut pythons: Vec<&str> = [&python, &python3]
        .iter()
        .filter_map(|text| text.trim().strip_prefix("Python "))
        .collect();
    pythons.dedup();
    platform.python = (!pythons.is_empty()).then(|| pythons.join(" + Python "));
    platform.java = java_version(&java);
}

/// The answer of a program on both outputs: some tell their version on the one for errors.
fn ask(search: &OsStr, name: &str, option: &str) -> Option<String> {
    let path = find_program(name, search)?;
    let mut program = Program::new(path).args([OsString::from(option)]);
    program.timeout = TIMEOUT;
    program.output_limit = OUTPUT_LIMIT;
    program.environment = vec![("LC_ALL".into(), "C".into())];
    let answer: Finished = run(&program, &Cancel::new())
        .ok()
        .filter(Finished::is_success)?;
    Some(format!("{}{}", answer.stdout_text(), answer.stderr_text()))
}

/// `GCC 12.2.0`, with the date of a snapshot: `GCC 6.3.0 20170406`.
pub(super) fn gcc_version(text: &str) -> Option<String> {
    let rest = text
        .lines()
        .find_map(|line| line.strip_prefix("gcc version "))?;
    let mut words = rest.split_whitespace();
    let version = words.next()?;
    let is_date = |word: &&str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_digit());
    Some(match words.next().filter(is_date) {
        Some(date) => format!("GCC {version} {date}"),
        None => format!("GCC {version}"),
    })
}

fn clang_version(text: &str) -> Option<String> {
    let rest = text.lines().next()?.split_once("clang version ")?.1;
    let version = rest.split(|c: char| c.is_whitespace() || c == '-').next()?;
    Some(format!("Clang {version}"))
}

/// The options of `Configured with:`, sorted, without directories and branding.
pub(super) fn gcc_options(text: &str) -> Option<String> {
    const LEFT_OUT: [&str; 23] = [
        "bindir",
        "datadir",
        "enable-java-home",
        "exec-prefix",
        "htmldir",
        "infodir",
        "libdir",
        "libexecdir",
        "localstatedir",
        "mandir",
        "prefix",
        "program-suffix",
        "sysconfdir",
        "with-arch-directory",
        "with-bugurl",
        "with-build-config",
        "with-ecj-jar",
        "with-gxx-include-dir",
        "with-java-home",
        "with-jvm-jar-dir",
        "with-jvm-root-dir",
        "with-local-prefix",
        "with-pkgversion",
    ];
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Configured with:"))?;
    let mut options: Vec<String> = line
        .split_whitespace()
        .filter_map(|word| {
            let word = word.trim_matches(['\'', '"']);
            let key = word.trim_start_matches('-').split('=').next()?;
            let is_kept = word.starts_with('-') && !LEFT_OUT.contains(&key);
            is_kept.then(|| without_build_paths(word))
        })
        .collect();
    options.sort_unstable();
    options.dedup();
    (!options.is_empty()).then(|| options.join(" "))
}

/// `nvptx-none=/build/gcc/usr,amdgcn-amdhsa=/build/...` -> `nvptx-none,amdgcn-amdhsa`.
fn without_build_paths(option: &str) -> String {
    let Some((key, value)) = option
        .split_once('=')
        .filter(|(key, _)| key.ends_with("targets"))
    else {
        return option.to_owned();
    };
    let parts: Vec<&str> = value
        .split(',')
        .map(|part| part.split('=').next().unwrap_or(part))
        .collect();
    format!("{key}={}", parts.join(","))
}

/// `OpenJDK 17.0.9` out of `openjdk version "17.0.9" 2023-10-17`.
pub(super) fn java_version(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.contains(" version "))?;
    let (name, rest) = line.split_once(" version ")?;
    let version = rest.split('"').nth(1)?;
    let name = if name == "openjdk" { "OpenJDK" } else { "Java" };
    Some(format!("{name} {version}"))
}
