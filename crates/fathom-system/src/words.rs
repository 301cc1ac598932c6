//! Names in the words of the Phoronix Test Suite: vendors by their short names, without words that
//! say nothing.

#[cfg(test)]
mod tests;

const SHORT: [(&str, &str); 16] = [
    ("Advanced Micro Devices", "AMD"),
    ("ASUSTeK", "ASUS"),
    ("Hewlett-Packard", "HP"),
    ("MICRO-STAR INTERNATIONAL", "MSI"),
    ("Micro-Star International", "MSI"),
    ("Gigabyte Technology", "Gigabyte"),
    ("Dell Inc.", "Dell"),
    ("High Definition", "HD"),
    ("Texas Instruments", "TI"),
    ("Tyan Computer", "TYAN"),
    ("Silicon Integrated Systems", "SiS"),
    ("Mellanox Technologies", "Mellanox"),
    ("Super Micro Computer", "Supermicro"),
    ("Red Hat, Inc.", "Red Hat"),
    ("Amazon.com, Inc.", "Amazon"),
    ("Samsung Electronics", "Samsung"),
];

/// Words that are left out, compared without case.
const NOISE: [&str; 32] = [
    "co",
    "co.",
    "computer",
    "computers",
    "controller",
    "controllers",
    "corp",
    "corp.",
    "corporation",
    "cpu",
    "electronics",
    "ethernet",
    "express",
    "family",
    "gmbh",
    "graphics",
    "inc",
    "inc.",
    "incorporated",
    "llc",
    "ltd",
    "ltd.",
    "memory",
    "network",
    "processor",
    "pvt",
    "semiconductor",
    "series",
    "subsidiaries",
    "systems",
    "technologies",
    "technology",
];

/// Cleans a name of hardware.
pub(crate) fn clean(text: &str) -> String {
    let mut text = text.to_owned();
    for (long, short) in SHORT {
        text = text.replace(long, short);
    }
    for mark in [
        "(R)",
        "(r)",
        "(TM)",
        "(tm)",
        "(C)",
        "Host Bridge",
        "and subsidiaries",
    ] {
        text = text.replace(mark, " ");
    }
    let ascii: String = text
        .chars()
        .map(|c| match c {
            ',' | '"' | '\'' | ';' | '[' | ']' => ' ',
            c if c.is_ascii() && !c.is_control() => c,
            _ => ' ',
        })
        .collect();
    let mut words: Vec<&str> = Vec::new();
    for word in ascii.split_whitespace() {
        let is_noise = NOISE.contains(&word.to_ascii_lowercase().as_str());
        if !is_noise && !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" ")
}

/// Equal items counted and joined: `2 x 120GB Force MP500 + 256GB Samsung SSD 850`.
pub(crate) fn counted(items: &[String]) -> String {
    let mut groups: Vec<(&String, u32)> = Vec::new();
    for item in items.iter().filter(|item| !item.is_empty()) {
        match groups.iter_mut().find(|(known, _)| *known == item) {
            Some((_, count)) => *count += 1,
            None => groups.push((item, 1)),
        }
    }
    let parts: Vec<String> = groups
        .into_iter()
        .map(|(item, count)| match count {
            1 => item.clone(),
            count => format!("{count} x {item}"),
        })
        .collect();
    parts.join(" + ")
}
