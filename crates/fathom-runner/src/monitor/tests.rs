use std::fs;

use fathom_model::{Drive, TargetInfo};
use fathom_system::Root;
use fathom_testkit::FakeRoot;

use super::*;

fn machine() -> (FakeRoot, Sensors) {
    let root = FakeRoot::new()
        .tree(
            "/sys/devices/pci0/block/sda @ 8:0\n\
             /sys/devices/pci0/hwmon/hwmon2/name = drivetemp\n\
             /sys/devices/pci0/hwmon/hwmon2/temp1_input = 31000\n\
             /sys/devices/pci0/block/sda/device -> ../..\n",
        )
        .file(
            "proc/meminfo",
            "MemTotal: 2000 kB\nMemAvailable: 1000 kB\nDirty: 1 kB\n",
        );
    let drives = vec![Drive {
        name: "sda".to_owned(),
        ..Drive::default()
    }];
    let target = TargetInfo {
        drives,
        ..TargetInfo::default()
    };
    let sensors = Sensors::find(&Root::at(root.path()), &target);
    (root, sensors)
}

#[test]
fn a_trial_shorter_than_a_step_has_one_value_a_sensor() {
    let (_root, sensors) = machine();
    let recorded = Monitor::new(sensors, Nanos::from_secs(3600)).begin().end();
    let series = &recorded.series["sensor/drive-temperature/sda"];
    assert_eq!(
        (series.unit.as_str(), series.values.as_slice()),
        ("Celsius", &[31.0][..])
    );
    assert_eq!(recorded.notes, Vec::<String>::new());
}

#[test]
fn each_step_has_a_value() {
    let (_root, mut sensors) = machine();
    let rows: Vec<_> = (0..5)
        .map(|second| sensors.read(Nanos::from_secs(second)))
        .collect();
    let recorded = recorded(&sensors, &rows, 1_000_000_000);
    let series = &recorded.series["sensor/memory-used"];
    assert_eq!(series.values, [1.024; 5]);
    assert_eq!(series.step_ns, 1_000_000_000);
}

#[test]
fn a_sensor_that_vanishes_is_a_note() {
    let (root, mut sensors) = machine();
    let mut rows = vec![
        sensors.read(Nanos::from_secs(0)),
        sensors.read(Nanos::from_secs(1)),
    ];
    let place = root
        .path()
        .join("sys/devices/pci0/hwmon/hwmon2/temp1_input");
    fs::write(place, "").unwrap();
    rows.push(sensors.read(Nanos::from_secs(2)));
    let recorded = recorded(&sensors, &rows, 1_000_000_000);
    let values = &recorded.series["sensor/drive-temperature/sda"].values;
    assert_eq!(values[..2], [31.0, 31.0]);
    assert!(values[2].is_nan());
    assert_eq!(
        recorded.notes,
        ["sensor drive-temperature/sda gave nothing any more after 2.00 s"]
    );
}

#[test]
fn a_recording_that_is_dropped_leaves_the_sensors_to_the_next() {
    let (_root, sensors) = machine();
    let monitor = Monitor::new(sensors, Nanos::from_secs(3600));
    drop(monitor.begin());
    assert!(!monitor.begin().end().series.is_empty());
}
