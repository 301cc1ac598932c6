//! Tests and their options in words: for `fathom info` and for the reference page.

use fathom_base::Nanos;
use fathom_model::{OptionInfo, OptionKind, TestInfo, Word};

#[cfg(test)]
mod tests;

/// A time that is only about right: whole seconds from ten on, tenths below.
pub fn about(time: Nanos) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds >= 60.0 => time.rough(),
        _ if seconds >= 9.95 => format!("{seconds:.0} s"),
        _ => {
            let text = format!("{seconds:.1}");
            format!("{} s", text.trim_end_matches(".0"))
        }
    }
}

/// What an option accepts, `a size from 512B to 16MiB`, without its menu.
pub fn kind_text(option: &OptionInfo) -> String {
    let text = match option.kind {
        OptionKind::Choice => "one of the values".to_owned(),
        OptionKind::Size(low, high) => format!("size, {low} to {high}"),
        OptionKind::Integer(low, high) => format!("number, {low} to {high}"),
        OptionKind::Number(low, high) => format!("number, {low} to {high}"),
        OptionKind::Duration(low, high) => format!("time, {low} to {high}"),
        OptionKind::Percent => "per cent, 0 to 100".to_owned(),
        OptionKind::Rate => "rate (1000/s, 50MB/s)".to_owned(),
        OptionKind::Flag => "yes or no".to_owned(),
        OptionKind::Text => "text, one line".to_owned(),
        OptionKind::Word(words) => {
            let forms: Vec<String> = words.iter().map(word_text).collect();
            forms.join(", ")
        }
        OptionKind::SizeShares(low, high) => {
            format!("sizes with shares (4KiB/60:64KiB/40), {low} to {high}")
        }
    };
    match option.none_allowed {
        true => format!("{text}, or none"),
        false => text,
    }
}

fn word_text(word: &Word) -> String {
    match word.number {
        None => word.word.to_owned(),
        Some(number) => format!("{}:{} to {}", word.word, number.low, number.high),
    }
}

/// The menu on one line: `4KiB, 64KiB, 1MiB`.
pub fn menu_text(option: &OptionInfo) -> String {
    let values: Vec<&str> = option.menu.iter().map(|choice| choice.value).collect();
    values.join(", ")
}

/// A test for a terminal: what it is, its implementations, its options.
pub fn test_text(implementations: &[TestInfo], columns: usize) -> String {
    let Some(info) = implementations.first() else {
        return String::new();
    };
    let carried_out: Vec<String> = implementations
        .iter()
        .map(|info| info.implementation.to_string())
        .collect();
    let mut text = format!("{}: {}\n", info.id, info.title);
    text.push_str(&wrapped(info.summary, 2, columns));
    text.push_str(&format!(
        "\nimplementations: {} (workload version {})\n\noptions (fathom run {} -o NAME=VALUE[,VALUE])\n",
        carried_out.join(", "),
        info.version,
        info.id
    ));
    for option in &info.options {
        text.push_str(&option_text(option, columns));
    }
    for other in &implementations[1..] {
        let lacking: Vec<&str> = info
            .options
            .iter()
            .map(|option| option.name)
            .filter(|name| !other.options.iter().any(|option| option.name == *name))
            .collect();
        if !lacking.is_empty() {
            let line = format!("{} has no {}", other.implementation, lacking.join(", "));
            text.push_str(&wrapped(&line, 2, columns));
        }
    }
    text
}

fn option_text(option: &OptionInfo, columns: usize) -> String {
    let mut text = format!("\n  {}={}\n", option.name, shown(&option.default));
    text.push_str(&wrapped(option.help, 6, columns));
    text.push_str(&wrapped(&kind_text(option), 6, columns));
    let has_help = option.menu.iter().any(|choice| !choice.help.is_empty());
    if has_help {
        for choice in &option.menu {
            let line = format!("{}: {}", choice.value, choice.help);
            text.push_str(&wrapped(line.trim_end_matches(": "), 8, columns));
        }
    } else if !option.menu.is_empty() {
        let line = format!("values: {}", menu_text(option));
        text.push_str(&wrapped(&line, 6, columns));
    }
    text
}

fn shown(default: &str) -> &str {
    match default {
        "" => "(empty)",
        text => text,
    }
}

/// Breaks a text into lines of at most `columns` columns, indented; words longer than a line stay
/// whole.
pub fn wrapped(text: &str, indent: usize, columns: usize) -> String {
    let width = columns.saturating_sub(indent).max(20);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let indent = " ".repeat(indent);
    lines
        .iter()
        .map(|line| format!("{indent}{line}\n"))
        .collect()
}

/// A test for the reference page, in Markdown.
pub fn test_markdown(info: &TestInfo) -> String {
    let mut text = format!(
        "## {}: {} ({})\n\n{}\n\n",
        info.id,
        info.title,
        info.implementation.kind.name(),
        info.summary
    );
    text.push_str("| option | default | accepts | values | meaning |\n|---|---|---|---|---|\n");
    for option in &info.options {
        let cells = [
            format!("`{}`", option.name),
            format!("`{}`", shown(&option.default)),
            kind_text(option),
            menu_markdown(option),
            option.help.to_owned(),
        ];
        let row: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        text.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    text.push('\n');
    text
}

fn menu_markdown(option: &OptionInfo) -> String {
    let values: Vec<String> = option
        .menu
        .iter()
        .map(|choice| match choice.help {
            "" => format!("`{}`", choice.value),
            help => format!("`{}` ({help})", choice.value),
        })
        .collect();
    values.join(", ")
}
