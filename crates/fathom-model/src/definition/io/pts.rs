//! What the Phoronix Test Suite's parser makes of a bandwidth that fio prints, for comparing with
//! public results: its "MB/s" is three different units.

/// How a fio version prints bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioFamily {
    /// Up to 2.x: KiB called "KB" up to six digits, MiB called "MB" beyond.
    Two,
    /// From 3.0: four characters in KiB, MiB or GiB.
    Three,
}

impl FioFamily {
    /// The family of a version such as `2.1.13` or `fio-3.36`; `None` when it names none.
    pub fn of_version(version: &str) -> Option<Self> {
        let digits = version.trim_start_matches(|c: char| !c.is_ascii_digit());
        let major: u32 = digits.split('.').next()?.parse().ok()?;
        Some(if major >= 3 { Self::Three } else { Self::Two })
    }
}

/// The "MB/s" a PTS result would show for one run of this many bytes a second: fio 2 up to
/// 999 999 KiB/s in 1000 KiB/s and beyond in MiB/s, fio 3 likewise below 10 000 KiB/s, in MiB/s
/// below 10 000 MiB/s, and nothing at all beyond.
///
/// ```
/// use fathom_model::definition::io::{FioFamily, pts_fio_figure};
///
/// assert_eq!(pts_fio_figure(FioFamily::Two, 77_347.0 * 4096.0), Some(309.388));
/// assert_eq!(pts_fio_figure(FioFamily::Two, 260_576.0 * 4096.0), Some(1017.9));
/// assert_eq!(pts_fio_figure(FioFamily::Three, 109e6), Some(104.0));
/// assert_eq!(pts_fio_figure(FioFamily::Three, 11e9), None);
/// ```
pub fn pts_fio_figure(family: FioFamily, bytes_per_second: f64) -> Option<f64> {
    if !bytes_per_second.is_finite() || bytes_per_second <= 0.0 {
        return None;
    }
    let kib = bytes_per_second / 1024.0;
    match family {
        FioFamily::Two if kib.floor() <= 999_999.0 => Some(kib.floor() / 1000.0),
        FioFamily::Two => Some(printed_in(kib / 1024.0, 6)),
        FioFamily::Three => {
            let whole = |value: f64| printed_in(value, 4);
            if whole(kib) < 10_000.0 {
                return Some(whole(kib) / 1000.0);
            }
            let mib = whole(kib / 1024.0);
            (mib < 10_000.0).then_some(mib)
        }
    }
}

/// Rounded to as many decimals as fit into `characters`, the point included.
fn printed_in(value: f64, characters: i32) -> f64 {
    let digits = value.log10().floor().max(0.0) as i32 + 1;
    let decimals = (characters - digits - 1).max(0);
    let factor = 10_f64.powi(decimals);
    (value * factor).round() / factor
}
