//! Tells the values of the table of systems apart. They follow each other without a mark:
//! `TYAN B8026T70AE24HRAMD Device 1450129024MB120GB Force MP500`. Each key has its own form, and
//! the division on which all forms agree best is taken.

/// Longest table that is divided; a real one has about a thousand bytes.
const MAX_TABLE: usize = 8 << 10;
/// Longest value.
const MAX_VALUE: usize = 400;
/// Worst score a value may have.
const NEVER: i32 = i32::MIN / 4;

/// Keys (by index) and values in the order of the table: a complete first column, then for each
/// further column what changed; `None` when no division fits.
pub(super) fn split<'a>(keys: &[&'static str], text: &'a str) -> Option<Vec<(usize, &'a str)>> {
    if text.len() > MAX_TABLE || keys.is_empty() {
        return None;
    }
    // best[key][end]: the best division of the first column that ends its value of `key` there.
    let mut states: Vec<(usize, i32, Vec<usize>)> = vec![(0, 0, Vec::new())];
    for key in keys {
        let mut next: Vec<(usize, i32, Vec<usize>)> = Vec::new();
        for (start, score, ends) in &states {
            for end in ends_of(text, *start) {
                let value_score = score_of(key, &text[*start..end]);
                if value_score == NEVER {
                    continue;
                }
                let total = score + value_score;
                match next.iter_mut().find(|(known, ..)| *known == end) {
                    Some(known) if known.1 >= total => {}
                    Some(known) => *known = (end, total, extended(ends, end)),
                    None => next.push((end, total, extended(ends, end))),
                }
            }
        }
        // Only the best few divisions can still win.
        next.sort_by_key(|(_, score, _)| std::cmp::Reverse(*score));
        next.truncate(64);
        states = next;
    }
    let divided = states.iter().filter_map(|(end, score, ends)| {
        let (rest_score, rest) = split_changes(keys, &text[*end..])?;
        Some((score + rest_score, ends, *end, rest))
    });
    let (_, ends, first_end, rest) = divided.max_by_key(|(score, ..)| *score)?;
    let mut cells = Vec::new();
    let mut start = 0;
    for (key, end) in ends.iter().enumerate() {
        cells.push((key, &text[start..*end]));
        start = *end;
    }
    for (key, from, to) in rest {
        cells.push((key, &text[first_end + from..first_end + to]));
    }
    Some(cells)
}

fn extended(ends: &[usize], end: usize) -> Vec<usize> {
    let mut ends = ends.to_vec();
    ends.push(end);
    ends
}

fn ends_of(text: &str, start: usize) -> impl Iterator<Item = usize> + '_ {
    (start + 1..=text.len().min(start + MAX_VALUE)).filter(|&end| text.is_char_boundary(end))
}

/// A cell of the changes: key, start and end.
type Change = (usize, usize, usize);

/// Divides what changed in further columns into values of any keys.
fn split_changes(keys: &[&'static str], text: &str) -> Option<(i32, Vec<Change>)> {
    let mut best: Vec<Option<(i32, Option<Change>)>> = vec![None; text.len() + 1];
    best[0] = Some((0, None));
    for start in 0..text.len() {
        let Some((score, _)) = best[start] else {
            continue;
        };
        for end in ends_of(text, start) {
            for (index, key) in keys.iter().enumerate() {
                let value = score_of(key, &text[start..end]);
                // A weak form would match anything.
                if value < 3 {
                    continue;
                }
                let total = score + value - 2;
                if best[end].is_none_or(|(known, _)| known < total) {
                    best[end] = Some((total, Some((index, start, end))));
                }
            }
        }
    }
    let (score, _) = best[text.len()]?;
    let mut changes = Vec::new();
    let mut at = text.len();
    while let Some((_, Some(change))) = best[at] {
        changes.push(change);
        at = change.1;
    }
    changes.reverse();
    Some((score, changes))
}

/// How well a text has the form of a key's values.
fn score_of(key: &str, value: &str) -> i32 {
    let (first, last) = match value.as_bytes() {
        [first, .., last] => (*first, *last),
        _ => return NEVER,
    };
    let is_open = b" ,+)/.-".contains(&first) || b" ,+(-".contains(&last);
    if is_open || DIGITS_FIRST.contains(&key) && !first.is_ascii_digit() {
        return NEVER;
    }
    let score = form_score(key, value);
    let count = |paren: u8| value.bytes().filter(|b| *b == paren).count();
    match score != NEVER && count(b'(') != count(b')') {
        true => NEVER,
        false => score,
    }
}

/// Keys whose values begin with a digit.
const DIGITS_FIRST: [&str; 4] = ["Memory", "Kernel", "OpenGL", "Screen Resolution"];

fn form_score(key: &str, value: &str) -> i32 {
    match key {
        "Processor" => processor(value),
        "Motherboard" => vendor(value, &BOARDS) + if value.ends_with(" BIOS)") { 4 } else { 0 },
        "Chipset" => chipset(value),
        "Memory" => memory(value),
        "Disk" => disk(value),
        "Graphics" => vendor(value, &GRAPHICS) + if value.ends_with("MB") { 2 } else { 0 },
        "Audio" => vendor(value, &AUDIO),
        "Monitor" => vendor(value, &MONITORS),
        "Network" => network(value),
        "OS" => os(value),
        "Kernel" => kernel(value),
        "Desktop" => with_version(value, &DESKTOPS),
        "Display Server" => with_version(value, &["X Server", "Wayland", "X Server + Wayland"]),
        "Display Driver" => display_driver(value),
        "OpenGL" => opengl(value),
        "Compiler" => compiler(value),
        "File-System" => file_system(value),
        "Screen Resolution" => resolution(value),
        "Vulkan" | "OpenCL" | "OpenGL ES" => short_text(value, value.contains('.')),
        _ => short_text(value, false),
    }
}

const BOARDS: [&str; 24] = [
    "ASUS",
    "ASRock",
    "AMD",
    "Amazon",
    "Apple",
    "BCM",
    "Dell",
    "ECS",
    "Gigabyte",
    "Google",
    "HP",
    "Intel",
    "Jetway",
    "LENOVO",
    "Lenovo",
    "MSI",
    "Microsoft",
    "QEMU",
    "Quanta",
    "Raspberry",
    "Supermicro",
    "TYAN",
    "VMware",
    "ZOTAC",
];
const GRAPHICS: [&str; 16] = [
    "AMD", "ASPEED", "ATI", "Intel", "LLVMpipe", "MSI", "Matrox", "NV", "NVIDIA", "Red Hat",
    "VMware", "XFX", "Zotac", "llvmpipe", "eVGA", "ASUS",
];
const AUDIO: [&str; 9] = [
    "AMD", "ASMedia", "C-Media", "Creative", "Intel", "NVIDIA", "Realtek", "VIA", "Analog",
];
const MONITORS: [&str; 20] = [
    "ASUS",
    "Acer",
    "AOC",
    "BenQ",
    "DELL",
    "Dell",
    "G237HL",
    "HP",
    "HDMI",
    "Iiyama",
    "LG",
    "LU28R55",
    "NEC",
    "Philips",
    "SAMSUNG",
    "Samsung",
    "SMB",
    "VA2431",
    "VE228",
    "ViewSonic",
];
const DESKTOPS: [&str; 12] = [
    "GNOME Shell",
    "Unity",
    "KDE Plasma",
    "KDE Frameworks",
    "KDE",
    "Xfce",
    "LXDE",
    "LXQt",
    "MATE",
    "Cinnamon",
    "Budgie",
    "X-Cinnamon",
];

/// A value that begins with a word of a list.
fn vendor(value: &str, vendors: &[&str]) -> i32 {
    if value.len() > 90 {
        return NEVER;
    }
    match vendors.iter().any(|vendor| value.starts_with(vendor)) {
        true => 5,
        false if value.len() > 3 => 0,
        false => NEVER,
    }
}

fn short_text(value: &str, is_likely: bool) -> i32 {
    match value.len() {
        length if length > 80 => NEVER,
        _ => i32::from(is_likely),
    }
}

/// Digits at the start and what follows them.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// `AMD EPYC 7601 32-Core @ 2.20GHz (32 Cores / 64 Threads)`.
fn processor(value: &str) -> i32 {
    let cores = value
        .strip_suffix(')')
        .and_then(|inner| inner.rsplit_once('('))
        .map(|(_, c)| c);
    let has_cores = cores.is_some_and(|cores| {
        cores.ends_with("Cores") || cores.ends_with("Core") || cores.ends_with("Threads")
    });
    match has_cores {
        true => 10,
        false if value.contains("GHz") && value.ends_with("GHz") => 4,
        false => 0,
    }
}

/// `AMD Device 1450`, `Intel Sky Lake-E DMI3 Registers`.
fn chipset(value: &str) -> i32 {
    let known = vendor(
        value,
        &[
            "AMD", "ATI", "Intel", "NVIDIA", "VIA", "SiS", "Red Hat", "Cavium", "Ampere", "Amazon",
            "Broadcom",
        ],
    );
    if known == NEVER {
        return NEVER;
    }
    match value.rsplit_once("Device ") {
        Some((_, id)) if id.len() == 4 && id.bytes().all(|b| b.is_ascii_hexdigit()) => known + 5,
        Some((_, id)) if id.len() > 4 && id.starts_with(|c: char| c.is_ascii_hexdigit()) => NEVER,
        _ if value.ends_with(|c: char| c.is_ascii_digit()) => known - 1,
        _ => known,
    }
}

/// `129024MB`, `4 x 4096 MB DDR4-3200MT/s Corsair CMK16GX4M4C3200C16`.
fn memory(value: &str) -> i32 {
    let (count, rest) = digits(value);
    if count.is_empty() || count.starts_with('0') {
        return NEVER;
    }
    if matches!(rest, "MB" | "GB") && (3..=8).contains(&count.len()) {
        return 8;
    }
    let Some(size) = rest.strip_prefix(" x ") else {
        return if matches!(rest, "MB" | "GB") {
            6
        } else {
            NEVER
        };
    };
    let (size, unit) = digits(size);
    let unit = unit.trim_start();
    if size.is_empty() || !(unit.starts_with("MB") || unit.starts_with("GB")) || value.len() > 120 {
        return NEVER;
    }
    // Part numbers are words; half of one is not told from a whole one.
    match value.contains("MT/s") || value.contains("DDR") || value.contains("DRAM") {
        true => 8,
        false => 6,
    }
}

/// Sizes drives have, in GB: a size that is none of them is a number glued to one.
const DRIVE_SIZES: [u32; 78] = [
    8, 14, 15, 16, 20, 29, 30, 31, 32, 40, 58, 60, 62, 63, 64, 74, 80, 100, 118, 119, 120, 125,
    126, 128, 150, 160, 180, 200, 240, 248, 250, 252, 256, 280, 300, 320, 375, 400, 450, 480, 500,
    512, 525, 600, 640, 750, 800, 900, 960, 1000, 1024, 1050, 1074, 1100, 1200, 1280, 1500, 1600,
    1800, 1920, 1966, 2000, 2048, 2050, 2097, 2200, 3000, 3001, 3200, 3201, 3841, 4000, 4001, 4096,
    6001, 7682, 8002, 15363,
];
/// How drives are called that are not led by their size.
const DRIVES: [&str; 26] = [
    "ADATA",
    "APPLE",
    "CT",
    "Corsair",
    "Crucial",
    "Force",
    "Generic",
    "HGST",
    "Hitachi",
    "INTEL",
    "KINGSTON",
    "Kingston",
    "MTFD",
    "Micron",
    "Mushkin",
    "OCZ",
    "PATRIOT",
    "Patriot",
    "SAMSUNG",
    "SK hynix",
    "Samsung",
    "SanDisk",
    "Seagate",
    "TOSHIBA",
    "WDC",
    "Western Digital",
];

/// `256GB INTEL SSDPEKKW256G8 + 120GB Force MP500`, `Samsung SSD 950 PRO 256GB`.
fn disk(value: &str) -> i32 {
    let scores: Vec<i32> = value.split(" + ").map(drive).collect();
    match scores.contains(&NEVER) {
        true => NEVER,
        false => 3 + scores.iter().min().copied().unwrap_or(0) + scores.len() as i32 - 1,
    }
}

fn drive(part: &str) -> i32 {
    let part = match part.split_once(" x ") {
        Some((count, rest)) if is_short_number(count, 2) => rest,
        _ => part,
    };
    let size_score = |size: &str| match size.parse::<u32>() {
        _ if size.starts_with('0') => NEVER,
        Ok(size) if DRIVE_SIZES.contains(&size) => 5,
        Ok(size) if size < 40_000 => 1,
        _ => NEVER,
    };
    let (size, rest) = digits(part);
    if size.is_empty() {
        let inner = part
            .strip_suffix("GB")
            .and_then(|part| part.rsplit_once(' '));
        let is_named = DRIVES.iter().any(|vendor| part.starts_with(vendor));
        return match inner {
            Some((_, size)) if is_named => size_score(size),
            _ => NEVER,
        };
    }
    match rest.strip_prefix("GB ") {
        // A name holds no second size without a plus before it, and ends where a word ends.
        Some(name) if name.len() >= 3 && !name.contains("GB") => size_score(size),
        None if rest == "GB" => size_score(size).min(2),
        _ => NEVER,
    }
}

fn is_short_number(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

fn network(value: &str) -> i32 {
    const WORDS: [&str; 10] = [
        "PCIe",
        "Ethernet",
        "Connection",
        "Gigabit",
        "GbE",
        "Wi-Fi",
        "Wireless",
        "Virtio",
        "I219",
        "Network",
    ];
    let known = vendor(
        value,
        &[
            "Aquantia", "Broadcom", "Intel", "Mellanox", "Qualcomm", "Realtek", "Red Hat",
            "Marvell", "Killer", "Amazon", "MEDIATEK", "2 x ", "4 x ",
        ],
    );
    let ends_well = WORDS.iter().any(|word| value.ends_with(word));
    match known {
        NEVER => NEVER,
        known => known + if ends_well { 4 } else { 0 },
    }
}

/// A name and a version: `Ubuntu 17.10`.
fn os(value: &str) -> i32 {
    const SYSTEMS: [&str; 22] = [
        "AlmaLinux",
        "Alpine",
        "Amazon Linux",
        "Antergos",
        "Arch",
        "CachyOS",
        "CentOS",
        "Clear Linux",
        "Debian",
        "EndeavourOS",
        "Fedora",
        "FreeBSD",
        "Gentoo",
        "Manjaro",
        "Mint",
        "Oracle",
        "Pop",
        "Raspbian",
        "Red Hat",
        "SUSE",
        "Ubuntu",
        "openSUSE",
    ];
    let known = vendor(value, &SYSTEMS);
    if known <= 0 {
        return known;
    }
    let version = value.rsplit(' ').next().unwrap_or_default();
    let parts: Vec<&str> = version.split('.').collect();
    let is_version = parts
        .iter()
        .all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
    match (value.starts_with("Ubuntu"), is_version) {
        (true, true) if parts.len() == 2 && matches!(parts[1], "04" | "10") => known + 4,
        (false, true) => known + 2,
        _ => known - 2,
    }
}

/// `4.17.0-999-generic (x86_64) 20180531`: three numbers, the first of one digit.
fn kernel(value: &str) -> i32 {
    let Some((release, rest)) = value.split_once(" (") else {
        return NEVER;
    };
    let parts: Vec<&str> = release.splitn(3, '.').collect();
    let is_number = |text: &str| {
        !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit())
    };
    let is_release = parts.len() == 3
        && matches!(parts[0], "2" | "3" | "4" | "5" | "6" | "7" | "8")
        && is_number(parts[1])
        && parts[2].starts_with(|c: char| c.is_ascii_digit());
    let Some((_, date)) = rest.split_once(')') else {
        return NEVER;
    };
    let is_date = |date: &str| {
        date.len() == 9 && date.starts_with(" 20") && date[1..].bytes().all(|b| b.is_ascii_digit())
    };
    match (is_release, date) {
        (true, "") => 8,
        (true, date) if is_date(date) => 9,
        (false, "") if release.len() < 40 => 1,
        _ => NEVER,
    }
}

/// A known name, optionally with a version of digits and points.
fn with_version(value: &str, names: &[&str]) -> i32 {
    let rest = names
        .iter()
        .filter_map(|name| value.strip_prefix(name))
        .min_by_key(|rest| rest.len());
    match rest {
        Some("") => 4,
        Some(version) if is_dotted(version.trim_start()) && version.starts_with(' ') => 7,
        _ => NEVER,
    }
}

fn is_dotted(text: &str) -> bool {
    !text.is_empty()
        && text
            .split('.')
            .all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

fn display_driver(value: &str) -> i32 {
    match value.split_once(' ') {
        Some((name, version)) if name.len() < 20 && (is_dotted(version) || version.len() < 15) => 3,
        None if value.len() < 20 => 1,
        _ => NEVER,
    }
}

/// `4.3 Mesa 18.0.0-rc5`: one digit, a point, one digit.
fn opengl(value: &str) -> i32 {
    let bytes = value.as_bytes();
    let begins = bytes.len() >= 3
        && matches!(bytes[0], b'1'..=b'4')
        && bytes[1] == b'.'
        && bytes[2].is_ascii_digit()
        && bytes.get(3).is_none_or(|b| matches!(b, b' ' | b'.'));
    match begins && value.len() <= 60 {
        true if value.len() == 3 => 4,
        true if value.contains(" Mesa ") => 6,
        true => 3,
        false => NEVER,
    }
}

/// `GCC 7.3.0`, `GCC 6.3.0 20170406`, `Clang 6.0 + LLVM 6.0`.
fn compiler(value: &str) -> i32 {
    let part_is_good = |part: &str| {
        let mut words = part.split(' ');
        let name = words.next().unwrap_or_default();
        let known = ["GCC", "Clang", "LLVM", "ICC", "AOCC", "CUDA", "PGI", "NVCC"].contains(&name);
        let version = words.next().is_some_and(|version| {
            version
                .split('.')
                .all(|n| (1..=2).contains(&n.len()) && n.bytes().all(|b| b.is_ascii_digit()))
        });
        known && version && words.all(|word| word.len() == 8 && word.starts_with("20"))
    };
    match value.split(" + ").all(part_is_good) {
        true => 7 + (value.len() as i32) / 40,
        false => NEVER,
    }
}

fn file_system(value: &str) -> i32 {
    const KNOWN: [&str; 24] = [
        "aufs",
        "bcachefs",
        "btrfs",
        "cifs",
        "ext2",
        "ext3",
        "ext4",
        "f2fs",
        "fuseblk",
        "hammer2",
        "jfs",
        "nfs",
        "ntfs",
        "overlay",
        "overlayfs",
        "ramfs",
        "reiserfs",
        "squashfs",
        "tmpfs",
        "udf",
        "ufs",
        "vfat",
        "xfs",
        "zfs",
    ];
    match value.split(" + ").all(|part| KNOWN.contains(&part)) {
        true => 8,
        false => NEVER,
    }
}

/// `1024x768`: heights that are common.
fn resolution(value: &str) -> i32 {
    const HEIGHTS: [&str; 18] = [
        "480", "600", "720", "768", "800", "864", "900", "1024", "1050", "1080", "1200", "1440",
        "1600", "1800", "2160", "2400", "2880", "4320",
    ];
    match value.split_once('x') {
        Some((width, height))
            if (3..=4).contains(&width.len())
                && width.bytes().all(|b| b.is_ascii_digit())
                && !width.starts_with('0')
                && height.bytes().all(|b| b.is_ascii_digit()) =>
        {
            if HEIGHTS.contains(&height) {
                8
            } else {
                NEVER
            }
        }
        _ => NEVER,
    }
}
