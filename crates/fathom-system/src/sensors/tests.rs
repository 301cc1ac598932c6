use std::fs;

use fathom_model::Drive;
use fathom_testkit::FakeRoot;

use super::*;

const TREE: &str = "\
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/dev = 259:0
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/device -> ../../nvme0
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/name = nvme
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/temp1_input = 41850
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/temp1_label = Composite
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/temp2_input = 47850
/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/hwmon3/temp2_label = Sensor 1
/sys/devices/pci0000:00/0000:02:00.0/nvme/nvme1/hwmon1/name = nvme
/sys/devices/pci0000:00/0000:02:00.0/nvme/nvme1/hwmon1/temp1_input = 99850
/sys/class/block/nvme0n1 -> ../../devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1
/sys/class/hwmon/hwmon0/name = k10temp
/sys/class/hwmon/hwmon0/temp1_input = 55125
/sys/class/powercap/intel-rapl:0/name = package-0
/sys/class/powercap/intel-rapl:0/max_energy_range_uj = 1000000
/sys/class/powercap/intel-rapl:0/energy_uj = 900000
/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq = 2000000
/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq = 3000000
/proc/pressure/io = some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000
";

const STAT: &str = "sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/stat";

fn machine() -> FakeRoot {
    FakeRoot::new()
        .tree(TREE)
        .file(STAT, "10 0 2000 5 20 0 4000 9 0 100 200 0 0 0 0 0 0\n")
        .file("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\n")
        .file(
            "proc/meminfo",
            "MemTotal: 2000000 kB\nMemFree: 1 kB\nMemAvailable: 1000000 kB\nDirty: 1000 kB\n",
        )
        .file(
            "proc/net/dev",
            "Inter-| Receive\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0: 1000 0 0 0 0 0 0 0 500 0\n",
        )
}

fn sensors(root: &FakeRoot) -> Sensors {
    let target = TargetInfo {
        drives: vec![Drive {
            name: "nvme0n1".to_owned(),
            ..Drive::default()
        }],
        ..TargetInfo::default()
    };
    Sensors::find(&Root::at(root.path()), &target)
}

fn value(sensors: &Sensors, values: &[Option<f64>], id: &str) -> Option<f64> {
    let place = sensors.infos().position(|info| info.id == id);
    values[place.unwrap_or_else(|| panic!("no sensor {id}"))]
}

#[test]
fn each_drive_has_its_own_temperature_whatever_the_number_of_its_chip() {
    let root = machine();
    let mut sensors = sensors(&root);
    let values = sensors.read(Nanos::from_secs(1));
    assert_eq!(
        value(&sensors, &values, "drive-temperature/nvme0n1"),
        Some(41.85)
    );
    assert_eq!(
        value(&sensors, &values, "drive-temperature/nvme0n1/Sensor-1"),
        Some(47.85)
    );
    assert_eq!(value(&sensors, &values, "cpu-temperature"), Some(55.125));
    assert_eq!(value(&sensors, &values, "cpu-frequency"), Some(2500.0));
    assert_eq!(value(&sensors, &values, "memory-used"), Some(1024.0));
}

#[test]
fn what_is_counted_is_a_rate_and_counters_that_wrap_go_on() {
    let root = machine();
    let mut sensors = sensors(&root);
    assert_eq!(
        {
            let values = sensors.read(Nanos::from_secs(10));
            value(&sensors, &values, "power/package-0")
        },
        None
    );
    let set = |path: &str, text: &str| fs::write(root.path().join(path), text).unwrap();
    // Two seconds later: 1 MB read, 4 MB written, busy for half of the time, two in flight.
    set(STAT, "10 0 3953 5 20 0 11812 9 0 1100 4200 0 0 0 0 0 0\n");
    set("proc/stat", "cpu  150 0 150 900 0 0 0 0 0 0\n");
    set(
        "proc/pressure/io",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n",
    );
    set("sys/class/powercap/intel-rapl:0/energy_uj", "100000");
    let values = sensors.read(Nanos::from_secs(12));
    let near = |id: &str, expected: f64| {
        let found = value(&sensors, &values, id).unwrap();
        assert!((found - expected).abs() < 0.01, "{id}: {found}");
    };
    near("drive-read/nvme0n1", 0.5);
    near("drive-write/nvme0n1", 2.0);
    near("drive-utilisation/nvme0n1", 50.0);
    near("drive-queue/nvme0n1", 2.0);
    near("cpu-usage", 50.0);
    near("pressure-io", 25.0);
    near("power/package-0", 0.1);
    near("network", 0.0);
}

#[test]
fn a_sensor_that_is_gone_gives_nothing_and_the_others_go_on() {
    let root = machine();
    let mut sensors = sensors(&root);
    sensors.read(Nanos::from_secs(1));
    fs::write(root.path().join(STAT), "").unwrap();
    let values = sensors.read(Nanos::from_secs(2));
    assert_eq!(value(&sensors, &values, "drive-read/nvme0n1"), None);
    assert_eq!(value(&sensors, &values, "cpu-temperature"), Some(55.125));
    // It comes back: counted from there, not from before.
    fs::write(
        root.path().join(STAT),
        "10 0 0 5 20 0 0 9 0 0 0 0 0 0 0 0 0\n",
    )
    .unwrap();
    let values = sensors.read(Nanos::from_secs(3));
    assert_eq!(value(&sensors, &values, "drive-read/nvme0n1"), None);
    let values = sensors.read(Nanos::from_secs(4));
    assert_eq!(value(&sensors, &values, "drive-read/nvme0n1"), Some(0.0));
}

#[test]
fn an_empty_machine_has_no_sensor() {
    let root = FakeRoot::new().directory("/proc");
    assert!(sensors(&root).is_empty());
}
