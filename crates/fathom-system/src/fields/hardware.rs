use fathom_model::{Board, Cpu, Drive, Field, Machine, Memory};

use crate::words::{clean, counted};

use super::known;

pub(super) fn fields(machine: &Machine) -> Vec<Field> {
    let peripherals = &machine.peripherals;
    let disks: Vec<String> = machine.disks.iter().map(disk).collect();
    known([
        ("Processor", processor(&machine.cpu)),
        ("Motherboard", motherboard(&machine.board)),
        ("Chipset", machine.board.chipset.clone()),
        ("Memory", memory(&machine.memory)),
        ("Disk", counted(&disks)),
        ("Graphics", counted(&peripherals.graphics)),
        ("Audio", counted(&peripherals.audio)),
        ("Monitor", counted(&peripherals.monitors)),
        ("Network", counted(&peripherals.network)),
    ])
}

/// `2 x AMD EPYC 7601 32-Core @ 2.20GHz (64 Cores / 128 Threads)`.
fn processor(cpu: &Cpu) -> String {
    // The nominal frequency in the name gives way to the one in use.
    let name = cpu.model.split(" @ ").next().unwrap_or_default();
    let name = name.split(" (").next().unwrap_or_default();
    let name = clean(name);
    let name = without_generation(&name);
    if name.is_empty() && cpu.threads == 0 {
        return String::new();
    }
    let mut text = match cpu.sockets {
        0 | 1 => name.to_owned(),
        count => format!("{count} x {name}"),
    };
    let ghz = cpu.frequency_max_khz.map(|khz| khz as f64 / 1e6);
    if let Some(ghz) = ghz.filter(|ghz| *ghz > 0.0 && *ghz <= 9.0) {
        text.push_str(&format!(" @ {ghz:.2}GHz"));
    }
    let cores = match cpu.cores {
        1 => "1 Core".to_owned(),
        cores => format!("{cores} Cores"),
    };
    match cpu.threads > cpu.cores {
        _ if cpu.cores == 0 => {}
        true => text.push_str(&format!(" ({cores} / {} Threads)", cpu.threads)),
        false => text.push_str(&format!(" ({cores})")),
    }
    text.trim().to_owned()
}

/// `13th Gen Intel Core i7-13700K` -> `Intel Core i7-13700K`.
fn without_generation(name: &str) -> &str {
    let is_ordinal = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    match name.split_once(" Gen ") {
        Some((first, rest)) if is_ordinal(first) && !first.contains(' ') => rest,
        _ => name,
    }
}

/// `AMD Cinnabar (RCB1009C BIOS)`, `ASUS PRIME X299-A (1004 BIOS)`.
fn motherboard(board: &Board) -> String {
    let mut text = format!("{} {}", board.vendor, board.name);
    let is_other = !board.product.is_empty() && !text.contains(&board.product);
    // A whole system's name says more than its board's only when there is no board.
    if board.name.is_empty() && is_other {
        text = format!("{text} {}", board.product);
    }
    let mut text = clean(&text);
    let bios = clean(board.bios.split(" (").next().unwrap_or_default());
    if !bios.is_empty() && !text.contains(&bios) {
        text.push_str(&format!(" ({bios} BIOS)"));
    }
    text.trim().to_owned()
}

/// The modules where the firmware tells, else the total, rounded up as it is sold.
fn memory(memory: &Memory) -> String {
    if !memory.modules.is_empty() {
        return counted(
            &memory
                .modules
                .iter()
                .map(|text| clean(text))
                .collect::<Vec<_>>(),
        );
    }
    let mib = memory.total_bytes >> 20;
    if mib == 0 {
        return String::new();
    }
    if mib < 1024 {
        return format!("{mib}MB");
    }
    let gib = mib.div_ceil(1024);
    let gib = match gib {
        0..=2 => gib,
        3..=100 => gib.next_multiple_of(2),
        _ => gib.next_multiple_of(16),
    };
    format!("{gib}GB")
}

/// `Samsung SSD 970 EVO 250GB`, `120GB Force MP500`, `3201GB Micron_7450_MTFDKCB3T2TFS`.
fn disk(drive: &Drive) -> String {
    let size = format!("{}GB", (drive.size_bytes as f64 / 1e9).round());
    let Some(model) = &drive.model else {
        return size;
    };
    let model = vendor_added(model);
    match model.contains(&size) {
        true => model,
        false => format!("{size} {model}"),
    }
}

/// Models whose vendor shows only in their first letters.
fn vendor_added(model: &str) -> String {
    const PREFIXES: [(&str, &str, &str); 9] = [
        ("WDC ", "", "Western Digital "),
        ("WD_", "", "Western Digital "),
        ("WD", "Western Digital ", "WD"),
        ("HFS", "SK hynix ", "HFS"),
        ("HFM", "SK hynix ", "HFM"),
        ("SSDPE", "INTEL ", "SSDPE"),
        ("SSDSC", "INTEL ", "SSDSC"),
        ("Force ", "Corsair ", "Force "),
        ("Voyager", "Corsair ", "Voyager"),
    ];
    let seagate = model
        .strip_prefix("ST")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if seagate {
        return format!("Seagate {model}");
    }
    for (prefix, added, replaced) in PREFIXES {
        if let Some(rest) = model.strip_prefix(prefix) {
            return format!("{added}{replaced}{rest}");
        }
    }
    model.to_owned()
}
