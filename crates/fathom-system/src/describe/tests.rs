use fathom_testkit::FakeRoot;
use proptest::prelude::*;

use super::platform::hypervisor;
use super::programs::{gcc_options, gcc_version, java_version};
use super::*;

fn machine(tree: &str) -> Machine {
    let fake = FakeRoot::new().tree(tree);
    describe(&Root::at(fake.path()), &DescribeOptions::default())
}

fn cpu(text: &str) -> fathom_model::Cpu {
    machine(&format!("/proc/cpuinfo <<\n{text}\n.\n")).cpu
}

#[test]
fn processors_of_other_architectures_have_names() {
    for (text, name, threads) in [
        (
            "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800MHz",
            "POWER9, altivec supported",
            1,
        ),
        (
            "processor : 0\nhart : 0\nisa : rv64imafdc\nuarch : sifive,u74-mc",
            "sifive,u74-mc",
            1,
        ),
        (
            "Processor\t: ARMv7 Processor rev 5 (v7l)\nprocessor\t: 0\nprocessor\t: 1\n\
          Hardware : sun7i",
            "ARMv7 Processor rev 5 (v7l)",
            2,
        ),
        (
            "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c",
            "ARMv8 Neoverse-N1",
            1,
        ),
        (
            "processor\t: 0\nCPU implementer\t: 0x99\nCPU part\t: 0x123",
            "ARM implementer 0x99 part 0x123",
            1,
        ),
        (
            "system type : MT7621\nprocessor : 0\ncpu model : MIPS 1004Kc V2.15",
            "MIPS 1004Kc V2.15",
            1,
        ),
    ] {
        let cpu = cpu(text);
        assert_eq!((cpu.model.as_str(), cpu.threads), (name, threads));
        assert_eq!((cpu.sockets, cpu.cores), (1, threads));
    }
}

#[test]
fn corpus_bug_29_an_empty_core_count_is_left_out() {
    let cpu =
        cpu("processor : 0\ncpu : 7447A, altivec supported\ncpu cores :\nmachine : PowerBook6,5");
    assert_eq!((cpu.cores, cpu.threads), (1, 1));
    let machine = machine("/proc/cpuinfo = machine : PowerBook6,5");
    assert_eq!(machine.board.name, "PowerBook6,5");
    assert_eq!(machine.cpu.threads, 0);
}

#[test]
fn hypervisors_are_told_by_firmware_flag_tree_and_xen() {
    let of = |tree: &str| {
        let fake = FakeRoot::new().tree(tree);
        hypervisor(&Root::at(fake.path()))
    };
    let dmi = "/sys/class/dmi/id/";
    let flag = "/proc/cpuinfo = flags : fpu hypervisor\n";
    let name = |text: &str| Some(text.to_owned());
    assert_eq!(of(&format!("{dmi}sys_vendor = QEMU\n{flag}")), name("QEMU"));
    assert_eq!(of(&format!("{dmi}product_name = KVM\n{flag}")), name("KVM"));
    assert_eq!(
        of(&format!("{dmi}sys_vendor = VMware, Inc.\n")),
        name("VMware")
    );
    let azure =
        format!("{dmi}sys_vendor = Microsoft Corporation\n{dmi}product_name = Virtual Machine\n");
    assert_eq!(of(&azure), name("Hyper-V"));
    let surface = format!("{dmi}sys_vendor = Microsoft Corporation\n{dmi}product_name = Surface\n");
    assert_eq!(of(&surface), None);
    let metal = format!("{dmi}sys_vendor = Amazon EC2\n{dmi}product_name = m5.metal\n");
    assert_eq!(of(&metal), None);
    let hardware =
        format!("{dmi}sys_vendor = Google Compute Engine\n/proc/cpuinfo = flags : fpu\n");
    assert_eq!(of(&hardware), None);
    assert_eq!(of(flag), name("hypervisor"));
    assert_eq!(
        of("/proc/device-tree/hypervisor/compatible = linux,kvm\n"),
        name("KVM")
    );
    assert_eq!(of("/sys/hypervisor/type = xen\n"), name("Xen"));
    let host = format!("/sys/hypervisor/type = xen\n/proc/xen/capabilities = control_d\n{flag}");
    assert_eq!(of(&host), None);
}

/// A memory device of SMBIOS with its texts.
fn module(size: u16, extended: u32, kind: u8, speed: u16, texts: &[&str]) -> Vec<u8> {
    let mut raw = vec![0_u8; 0x28];
    raw[0] = 17;
    raw[1] = 0x28;
    raw[0x0c..0x0e].copy_from_slice(&size.to_le_bytes());
    raw[0x12] = kind;
    raw[0x17] = 1;
    raw[0x1a] = 2;
    raw[0x1c..0x20].copy_from_slice(&extended.to_le_bytes());
    raw[0x20..0x22].copy_from_slice(&speed.to_le_bytes());
    for text in texts {
        raw.extend_from_slice(text.as_bytes());
        raw.push(0);
    }
    raw.push(0);
    raw
}

#[test]
fn memory_modules_are_read_from_the_firmware() {
    let large = module(
        0x7fff,
        32768,
        0x22,
        4800,
        &["Samsung", "M321R4GA0BB0-CQKMG     "],
    );
    let small = module(4096, 0, 0x1a, 3200, &["Corsair", "CMK16GX4M4C3200C16"]);
    let empty = module(0, 0, 2, 0, &["NO DIMM", "NO DIMM"]);
    let entries = "/sys/firmware/dmi/entries";
    let fake = FakeRoot::new()
        .file(&format!("{entries}/17-0/raw"), &large)
        .file(&format!("{entries}/17-1/raw"), &empty)
        .file(&format!("{entries}/17-2/raw"), &small);
    let memory = describe(&Root::at(fake.path()), &DescribeOptions::default()).memory;
    assert_eq!(
        memory.modules,
        [
            "32GB DDR5-4800MT/s Samsung M321R4GA0BB0-CQKMG",
            "4GB DDR4-3200MT/s Corsair CMK16GX4M4C3200C16"
        ]
    );
}

#[test]
fn memory_modules_are_taken_from_udev_by_ordinary_users() {
    let machine = machine(
        "/run/udev/data/+dmi:id <<\n\
         E:MEMORY_ARRAY_NUM_DEVICES=2\n\
         E:MEMORY_DEVICE_0_SIZE=17179869184\n\
         E:MEMORY_DEVICE_0_TYPE=DDR4\n\
         E:MEMORY_DEVICE_0_SPEED_MTS=3200\n\
         E:MEMORY_DEVICE_0_CONFIGURED_SPEED_MTS=2666\n\
         E:MEMORY_DEVICE_0_MANUFACTURER=Kingston\n\
         E:MEMORY_DEVICE_0_PART_NUMBER=KHX3200C16D4/16GX\n\
         E:MEMORY_DEVICE_1_PRESENT=0\n\
         .\n",
    );
    assert_eq!(
        machine.memory.modules,
        ["16GB DDR4-2666MT/s Kingston KHX3200C16D4/16GX"]
    );
}

#[test]
fn boards_without_a_name_use_the_products() {
    let machine = machine(
        "/sys/class/dmi/id/board_vendor = To be filled by O.E.M.\n\
         /sys/class/dmi/id/board_name = Default string\n\
         /sys/class/dmi/id/sys_vendor = Intel(R) Client Systems\n\
         /sys/class/dmi/id/product_name = NUC10i7FNH\n\
         /sys/class/dmi/id/bios_version = FNCML357.0041\n",
    );
    assert_eq!(machine.board.vendor, "Intel(R) Client Systems");
    assert_eq!(machine.board.name, "NUC10i7FNH");
}

#[test]
fn pci_devices_have_the_names_of_the_list() {
    let machine = machine(
        "/usr/share/misc/pci.ids <<\n\
         # a comment\n\
         1022  Advanced Micro Devices, Inc. [AMD]\n\
         \t1450  Family 17h (Models 00h-0fh) Root Complex\n\
         14e4  Broadcom Inc. and subsidiaries\n\
         \t165f  NetXtreme BCM5720 Gigabit Ethernet PCIe\n\
         \t\t1028 1f5b  not this one\n\
         1a03  ASPEED Technology, Inc.\n\
         \t2000  ASPEED Graphics Family\n\
         C 00  Unclassified device\n\
         .\n\
         /sys/bus/pci/devices/0000:00:00.0/class = 0x060000\n\
         /sys/bus/pci/devices/0000:00:00.0/vendor = 0x1022\n\
         /sys/bus/pci/devices/0000:00:00.0/device = 0x14a4\n\
         /sys/bus/pci/devices/0000:01:00.0/class = 0x020000\n\
         /sys/bus/pci/devices/0000:01:00.0/vendor = 0x14e4\n\
         /sys/bus/pci/devices/0000:01:00.0/device = 0x165f\n\
         /sys/bus/pci/devices/0000:02:00.0/class = 0x030000\n\
         /sys/bus/pci/devices/0000:02:00.0/vendor = 0x1a03\n\
         /sys/bus/pci/devices/0000:02:00.0/device = 0x2000\n\
         /sys/bus/pci/devices/0000:03:00.0/class = broken\n",
    );
    assert_eq!(machine.board.chipset, "AMD Device 14a4");
    assert_eq!(
        machine.peripherals.network,
        ["Broadcom NetXtreme BCM5720 Gigabit PCIe"]
    );
    assert_eq!(machine.peripherals.graphics, ["ASPEED"]);
}

#[test]
fn compilers_tell_their_version_and_options() {
    let told = "Using built-in specs.\n\
        Configured with: ../src/configure -v --with-pkgversion='Debian 12.2.0-14' --prefix=/usr \
        --enable-offload-targets=nvptx-none=/build/gcc/usr,amdgcn-amdhsa=/build/x \
        --enable-languages=c,ada --host=x86_64-linux-gnu\n\
        gcc version 6.3.0 20170406 (Ubuntu 6.3.0-12ubuntu2)\n";
    assert_eq!(gcc_version(told).as_deref(), Some("GCC 6.3.0 20170406"));
    assert_eq!(
        gcc_version("gcc version 12.2.0 (Debian)").as_deref(),
        Some("GCC 12.2.0")
    );
    assert_eq!(
        gcc_options(told).as_deref(),
        Some(
            "--enable-languages=c,ada --enable-offload-targets=nvptx-none,amdgcn-amdhsa \
             --host=x86_64-linux-gnu -v"
        )
    );
    assert_eq!(
        java_version("openjdk version \"17.0.9\" 2023-10-17\nOpenJDK ...").as_deref(),
        Some("OpenJDK 17.0.9")
    );
    assert_eq!(
        gcc_version("").or(gcc_options("")).or(java_version("x")),
        None
    );
}

#[test]
fn the_command_line_loses_what_names_machines() {
    let machine = machine(
        "/proc/cmdline = root=UUID=1 ip=10.0.0.1::host nfsroot=10.0.0.2:/x quiet -- --secret 1\n",
    );
    assert_eq!(
        machine.platform.command_line,
        "root=UUID=1 ip=... nfsroot=... quiet"
    );
}

#[test]
fn whoever_may_lock_memory_has_no_limit() {
    let limits = "/proc/self/limits = Max locked memory         8388608   8388608   bytes\n";
    assert_eq!(
        machine(limits).platform.locked_memory_limit_bytes,
        Some(8 << 20)
    );
    let able = format!("{limits}/proc/self/status = CapEff:\t000001ffffffffff\n");
    assert_eq!(machine(&able).platform.locked_memory_limit_bytes, None);
    let unable = format!("{limits}/proc/self/status = CapEff:\t0000000000000000\n");
    assert_eq!(
        machine(&unable).platform.locked_memory_limit_bytes,
        Some(8 << 20)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_bytes_in_any_file_are_described(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let files = [
            "/proc/cpuinfo",
            "/proc/meminfo",
            "/proc/cmdline",
            "/proc/self/limits",
            "/proc/self/cgroup",
            "/proc/self/mountinfo",
            "/proc/sys/kernel/version",
            "/proc/sys/kernel/osrelease",
            "/etc/os-release",
            "/etc/lsb-release",
            "/usr/share/misc/pci.ids",
            "/sys/firmware/dmi/entries/17-0/raw",
            "/run/udev/data/+dmi:id",
            "/sys/class/dmi/id/board_name",
        ];
        let mut fake = FakeRoot::new();
        for file in files {
            fake = fake.file(file, &bytes);
        }
        let _ = describe(&Root::at(fake.path()), &DescribeOptions::default());
        let text = String::from_utf8_lossy(&bytes);
        let _ = (gcc_version(&text), gcc_options(&text), java_version(&text));
    }
}
