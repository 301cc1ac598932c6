/// Public results that ship with Fathom, as native result files by name: what the first
/// comparison of a new user is made against.
///
/// They were read from exports of OpenBenchmarking.org; their origin says from which kind, and
/// what that export left open. The bytes are parsed by [`crate::native::read`] when needed.
pub fn references() -> &'static [(&'static str, &'static [u8])] {
    &[
        (
            "seed-epyc-raid-2017",
            include_bytes!("../../../references/seed-epyc-raid-2017.json"),
        ),
        (
            "seed-optane-2017",
            include_bytes!("../../../references/seed-optane-2017.json"),
        ),
        (
            "seed-nvme-2018",
            include_bytes!("../../../references/seed-nvme-2018.json"),
        ),
        (
            "seed-ssd-2024",
            include_bytes!("../../../references/seed-ssd-2024.json"),
        ),
    ]
}
