use fathom_model::Board;

use crate::drive::squeeze;
use crate::root::Root;

pub(super) fn read(root: &Root) -> Board {
    let dmi = |name: &str| {
        let text = root.line(format!("/sys/class/dmi/id/{name}"))?;
        Some(squeeze(&text)).filter(|text| !is_junk(text))
    };
    let product = dmi("product_name");
    let by_tree = || {
        let model = root.line("/proc/device-tree/model");
        let model = model.or_else(|| root.line("/sys/firmware/devicetree/base/model"));
        model.or_else(|| root.line("/sys/devices/soc0/machine"))
    };
    let by_cpuinfo = || {
        let text = root.head("/proc/cpuinfo", 1 << 20)?;
        let value = text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            ["Hardware", "machine", "Model"]
                .contains(&key.trim())
                .then(|| value.trim().to_owned())
        });
        value.filter(|value| !value.is_empty())
    };
    let name = dmi("board_name").or_else(|| product.clone());
    Board {
        vendor: dmi("board_vendor")
            .or_else(|| dmi("sys_vendor"))
            .unwrap_or_default(),
        name: name
            .or_else(by_tree)
            .or_else(by_cpuinfo)
            .unwrap_or_default(),
        bios: dmi("bios_version").unwrap_or_default(),
        product: product.unwrap_or_default(),
        chipset: String::new(),
    }
}

/// What vendors leave in when they forget to fill it in.
fn is_junk(text: &str) -> bool {
    const JUNK: [&str; 17] = [
        "to be filled by o.e.m.",
        "to be filled by oem",
        "default string",
        "default_string",
        "system manufacturer",
        "system product name",
        "system version",
        "not specified",
        "not applicable",
        "not available",
        "o.e.m.",
        "oem",
        "none",
        "unknown",
        "empty",
        "invalid",
        "n/a",
    ];
    let lower = text.to_ascii_lowercase();
    JUNK.contains(&lower.as_str()) || text.chars().all(|c| !c.is_alphanumeric() || c == '0')
}
