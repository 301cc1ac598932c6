use fathom_model::{Board, Cpu, Drive, Memory};

use super::*;

fn hardware_of(machine: Machine) -> String {
    let lines: Vec<String> = hardware::fields(&machine)
        .iter()
        .map(|field| format!("{}: {}", field.name, field.text))
        .collect();
    lines.join("; ")
}

fn processor(model: &str, sockets: u32, cores: u32, threads: u32, khz: Option<u64>) -> String {
    hardware_of(Machine {
        cpu: Cpu {
            model: model.to_owned(),
            sockets,
            cores,
            threads,
            frequency_max_khz: khz,
            ..Cpu::default()
        },
        ..Machine::default()
    })
}

#[test]
fn processors_in_the_words_of_the_seeds() {
    assert_eq!(
        processor(
            "AMD EPYC 7601 32-Core Processor",
            1,
            32,
            64,
            Some(2_200_000)
        ),
        "Processor: AMD EPYC 7601 32-Core @ 2.20GHz (32 Cores / 64 Threads)"
    );
    assert_eq!(
        processor(
            "Intel(R) Core(TM) i9-7980XE CPU @ 2.60GHz",
            1,
            18,
            36,
            Some(4_400_000)
        ),
        "Processor: Intel Core i9-7980XE @ 4.40GHz (18 Cores / 36 Threads)"
    );
    assert_eq!(
        processor(
            "AMD EPYC 8534P 64-Core Processor",
            1,
            64,
            128,
            Some(2_300_000)
        ),
        "Processor: AMD EPYC 8534P 64-Core @ 2.30GHz (64 Cores / 128 Threads)"
    );
    assert_eq!(
        processor("AMD EPYC 7763 64-Core Processor", 2, 128, 256, None),
        "Processor: 2 x AMD EPYC 7763 64-Core (128 Cores / 256 Threads)"
    );
    assert_eq!(
        processor("ARMv8 Cortex-A53", 1, 1, 1, Some(1_200_000)),
        "Processor: ARMv8 Cortex-A53 @ 1.20GHz (1 Core)"
    );
    // A frequency nobody has.
    assert_eq!(
        processor("X", 1, 4, 4, Some(99_000_000)),
        "Processor: X (4 Cores)"
    );
    assert_eq!(processor("", 0, 0, 0, None), "");
}

#[test]
fn boards_in_the_words_of_the_seeds() {
    let board = |vendor: &str, name: &str, bios: &str| {
        hardware_of(Machine {
            board: Board {
                vendor: vendor.to_owned(),
                name: name.to_owned(),
                bios: bios.to_owned(),
                ..Board::default()
            },
            ..Machine::default()
        })
    };
    assert_eq!(
        board("AMD Corporation", "Cinnabar", "RCB1009C"),
        "Motherboard: AMD Cinnabar (RCB1009C BIOS)"
    );
    assert_eq!(
        board("ASUSTeK COMPUTER INC.", "PRIME X299-A", "1004"),
        "Motherboard: ASUS PRIME X299-A (1004 BIOS)"
    );
    assert_eq!(
        board("", "Raspberry Pi 4", ""),
        "Motherboard: Raspberry Pi 4"
    );
    assert_eq!(board("", "", ""), "");
}

#[test]
fn memory_is_rounded_up_as_it_is_sold() {
    let total = |mib: u64| {
        hardware_of(Machine {
            memory: Memory {
                total_bytes: mib << 20,
                ..Memory::default()
            },
            ..Machine::default()
        })
    };
    for (mib, text) in [
        (0, ""),
        (512, "Memory: 512MB"),
        (1536, "Memory: 2GB"),
        (3793, "Memory: 4GB"),
        (15_667, "Memory: 16GB"),
        (24_105, "Memory: 24GB"),
        (128_758, "Memory: 128GB"),
        (257_000, "Memory: 256GB"),
    ] {
        assert_eq!(total(mib), text, "{mib}");
    }
    let modules = Memory {
        modules: vec!["32GB DDR5-4800MT/s Samsung M321R4GA0BB0-CQKMG".to_owned(); 6],
        ..Memory::default()
    };
    assert_eq!(
        hardware_of(Machine {
            memory: modules,
            ..Machine::default()
        }),
        "Memory: 6 x 32GB DDR5-4800MT/s Samsung M321R4GA0BB0-CQKMG"
    );
}

#[test]
fn disks_in_the_words_of_the_seeds() {
    let drive = |model: &str, size: u64| Drive {
        model: Some(model.to_owned()).filter(|model| !model.is_empty()),
        size_bytes: size,
        ..Drive::default()
    };
    let machine = Machine {
        disks: vec![
            drive("Micron_7450_MTFDKCB3T2TFS", 3_200_631_791_616),
            drive("Samsung SSD 970 EVO 250GB", 250_059_350_016),
            drive("ST2000DM006-2DM1", 2_000_398_934_016),
            drive("WDC WD10EZEX-08W", 1_000_204_886_016),
            drive("SSDPE21D280GA", 280_065_171_456),
            drive("", 269_484_032_000),
        ],
        ..Machine::default()
    };
    assert_eq!(
        hardware_of(machine),
        "Disk: 3201GB Micron_7450_MTFDKCB3T2TFS + Samsung SSD 970 EVO 250GB + \
         2000GB Seagate ST2000DM006-2DM1 + 1000GB Western Digital WD10EZEX-08W + \
         280GB INTEL SSDPE21D280GA + 269GB"
    );
}
