use super::*;

fn shell(script: &str) -> Program {
    Program::new("/bin/sh").args(["-c", script])
}

#[test]
fn output_exit_code_and_input_are_kept_apart() {
    let mut program = shell("cat; echo oops >&2; exit 3");
    program.input = Some(b"hello".to_vec());
    let finished = run(&program, &Cancel::new()).unwrap();
    assert_eq!(finished.end, End::Exited(3));
    assert_eq!(
        (
            finished.stdout_text().as_str(),
            finished.stderr_text().as_str()
        ),
        ("hello", "oops\n")
    );
}

#[test]
fn output_beyond_the_limit_is_counted() {
    let mut program = shell("head -c 100000 /dev/zero");
    program.output_limit = 1000;
    let finished = run(&program, &Cancel::new()).unwrap();
    assert_eq!(
        (finished.stdout.len(), finished.dropped_bytes),
        (1000, 99_000)
    );
}

#[test]
fn a_time_out_ends_grandchildren_too() {
    let mut program = shell("sleep 600 & echo $!; wait");
    program.timeout = Nanos::from_millis(200);
    let finished = run(&program, &Cancel::new()).unwrap();
    assert_eq!(finished.end, End::TimedOut);
    let grandchild = finished.stdout_text().trim().to_owned();
    // Its parent is dead; once init or a subreaper collects it, the entry is gone or a zombie.
    let state = std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
    let is_gone = state.is_empty() || state.contains(") Z ") || state.contains(") X ");
    assert!(is_gone, "{state}");
}

#[test]
fn cancellation_ends_the_child() {
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(
        run(&shell("sleep 600"), &cancel).unwrap().end,
        End::Cancelled
    );
}

#[test]
fn a_missing_program_is_named() {
    let error = run(&Program::new("/no/such/program"), &Cancel::new()).unwrap_err();
    assert!(
        error.to_string().starts_with("run /no/such/program:"),
        "{error}"
    );
}

#[test]
fn command_lines_can_be_typed_again() {
    let program = Program::new("fio").args(["--name=a b", "--size=1g", "it's"]);
    assert_eq!(
        program.command_line(),
        r"fio '--name=a b' --size=1g 'it'\''s'"
    );
}

#[test]
fn programs_are_found_in_the_search_path() {
    assert_eq!(
        find_program("sh", "/nowhere:/bin".as_ref()),
        Some(PathBuf::from("/bin/sh"))
    );
    assert_eq!(find_program("no-such-program", "/bin".as_ref()), None);
    assert_eq!(
        find_program("/etc/passwd", "".as_ref()),
        None,
        "not executable"
    );
}

#[test]
fn a_daemon_runs_until_it_is_stopped_and_keeps_a_log() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let script = "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.01; done";
    let mut daemon = Daemon::start(&shell(script), &log).unwrap();
    let read = || std::fs::read_to_string(&log).unwrap();
    while !read().contains("up") {
        assert_eq!(daemon.ended().unwrap(), None);
        std::thread::yield_now();
    }
    let end = daemon.stop(StopSignal::Terminate, Nanos::from_secs(60));
    assert_eq!(end.unwrap(), End::Exited(7));
    assert_eq!(read(), "up\nbye\n");
    assert_eq!(daemon.ended().unwrap(), Some(End::Exited(7)));
}

#[test]
fn a_daemon_that_does_not_listen_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let script = "trap '' TERM INT; echo up; while :; do sleep 0.01; done";
    let mut daemon = Daemon::start(&shell(script), &log).unwrap();
    while !std::fs::read_to_string(&log).unwrap().contains("up") {
        std::thread::yield_now();
    }
    let end = daemon.stop(StopSignal::Interrupt, Nanos::from_millis(20));
    assert_eq!(end.unwrap(), End::Signalled(libc::SIGKILL));
    let mut dropped = Daemon::start(&shell("exec sleep 600"), &log).unwrap();
    assert_eq!(dropped.ended().unwrap(), None);
    let pid = dropped.pid();
    drop(dropped);
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn a_child_dies_with_the_thread_that_started_it() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let daemon = std::thread::scope(|scope| {
        let start = || Daemon::start(&shell("exec sleep 600"), &log).unwrap();
        scope.spawn(start).join().unwrap()
    });
    let mut daemon = daemon;
    loop {
        if let Some(end) = daemon.ended().unwrap() {
            assert_eq!(end, End::Signalled(libc::SIGKILL));
            break;
        }
        std::thread::yield_now();
    }
}
