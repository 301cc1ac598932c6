//! Numbers as text: as the Phoronix Test Suite rounds them, and with digits for people.

use std::fmt::Write;

use fathom_stats::pts;

const POWERS_OF_TEN: [f64; 7] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];

/// Appends `value` with exactly `decimals` decimals, rounded as [`pts::number_format`] does it;
/// without its allocations for all but the values next to a tie.
pub(crate) fn push_rounded(out: &mut String, value: f64, decimals: usize) {
    if !value.is_finite() {
        out.push_str("n/a");
        return;
    }
    let scaled = value.abs() * POWERS_OF_TEN[decimals.min(POWERS_OF_TEN.len() - 1)];
    let whole = scaled.floor();
    let is_clear = (scaled - whole - 0.5).abs() > 1e-5 && scaled < 1e9;
    if decimals >= POWERS_OF_TEN.len() || !is_clear {
        out.push_str(&pts::number_format(value, decimals));
        return;
    }
    let digits = whole as u64 + u64::from(scaled - whole > 0.5);
    if value < 0.0 && digits > 0 {
        out.push('-');
    }
    push_fixed(out, digits, decimals);
}

/// Appends a whole number with a decimal point before its last `decimals` digits.
fn push_fixed(out: &mut String, digits: u64, decimals: usize) {
    let mut buffer = [b'0'; 24];
    let mut at = buffer.len();
    let mut rest = digits;
    let mut written = 0;
    while rest > 0 || written <= decimals {
        if decimals > 0 && written == decimals {
            at -= 1;
            buffer[at] = b'.';
        }
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        written += 1;
    }
    out.extend(buffer[at..].iter().map(|&byte| char::from(byte)));
}

/// As [`push_rounded`], in scientific notation where the number would fill a line.
pub(crate) fn push_value(out: &mut String, value: f64, decimals: usize) {
    if value.is_finite() && value.abs() >= 1e15 {
        let _ = write!(out, "{value:.4e}");
    } else {
        push_rounded(out, value, decimals);
    }
}

/// As [`push_rounded`], as a text of its own.
pub(crate) fn rounded(value: f64, decimals: usize) -> String {
    let mut out = String::new();
    push_rounded(&mut out, value, decimals);
    out
}

/// PHP's `round(value, decimals)`; negative `decimals` round to tens, hundreds and so on.
pub(crate) fn php_round(value: f64, decimals: i32) -> f64 {
    if decimals == 0 && value.abs() < 1e9 && (value.abs().fract() - 0.5).abs() > 1e-5 {
        return value.round();
    }
    if decimals >= 0 {
        return pts::round(value, decimals as usize);
    }
    let scale = 10_f64.powi(-decimals);
    pts::round(value / scale, 0) * scale
}

/// Decimals that show `digits` significant digits of `value`: 2 for 54.2 and three digits, 0 from
/// 100 on.
pub(crate) fn decimals_for(value: f64, digits: usize) -> usize {
    let magnitude = value.abs();
    if magnitude == 0.0 || !magnitude.is_finite() {
        return 0;
    }
    let before_point = magnitude.log10().floor() as i32 + 1;
    (digits as i32 - before_point).clamp(0, 9) as usize
}

/// A number for people, `digits` significant digits: `3431`, `54.2`, `0.312`.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    let mut out = String::new();
    push_significant(&mut out, value, digits);
    out
}

/// As [`significant`], appended.
pub(crate) fn push_significant(out: &mut String, value: f64, digits: usize) {
    let start = out.len();
    if value.abs() >= 1e15 {
        push_value(out, value, 0);
        return;
    }
    push_rounded(out, value, decimals_for(value, digits));
    // Rounding may have gained a digit (9.996 to 10.00); then one decimal fewer is enough.
    let count = out[start..].bytes().filter(u8::is_ascii_digit).count();
    if count > digits && out[start..].contains('.') && value.abs() >= 1.0 {
        out.pop();
        if out.ends_with('.') {
            out.pop();
        }
    }
}

/// A half-width in per cent, without sign: `0.4`, `12`, `>999`.
pub(crate) fn push_percent(out: &mut String, percent: f64) {
    match percent {
        p if !p.is_finite() || p > 999.0 => out.push_str(">999"),
        p if p >= 9.95 => push_rounded(out, p, 0),
        p if p >= 0.05 || p == 0.0 => push_rounded(out, p, 1),
        p if p >= 0.005 => push_rounded(out, p, 2),
        _ => out.push_str("<0.01"),
    }
}

/// A count for people: `950`, `12.4 k`, `3.10 M`.
pub(crate) fn count(number: u64) -> String {
    let value = number as f64;
    match number {
        0..=9_999 => number.to_string(),
        10_000..=999_949 => format!("{} k", significant(value / 1e3, 3)),
        1_000_000..=999_949_999 => format!("{} M", significant(value / 1e6, 3)),
        _ if number < 1_000_000 => "1.00 M".to_owned(),
        _ => format!("{} G", significant(value / 1e9, 3)),
    }
}

/// Appends a coordinate with at most one decimal; quick, for charts.
pub(crate) fn push_coordinate(out: &mut String, value: f64) {
    let tenths = (value * 10.0).round().clamp(-1e12, 1e12) as i64;
    if tenths < 0 {
        out.push('-');
    }
    let tenths = tenths.unsigned_abs();
    push_integer(out, tenths / 10);
    if !tenths.is_multiple_of(10) {
        out.push('.');
        out.push(char::from(b'0' + (tenths % 10) as u8));
    }
}

/// Appends a share of 0 to 1 as per cent with at most two decimals and the sign.
pub(crate) fn push_share(out: &mut String, share: f64) {
    let hundredths = (share * 10_000.0).round().clamp(0.0, 1e9) as u64;
    push_integer(out, hundredths / 100);
    let rest = (hundredths % 100) as u8;
    if rest != 0 {
        out.push('.');
        out.push(char::from(b'0' + rest / 10));
        if !rest.is_multiple_of(10) {
            out.push(char::from(b'0' + rest % 10));
        }
    }
    out.push('%');
}

/// Appends a whole number.
pub(crate) fn push_integer(out: &mut String, number: u64) {
    push_fixed(out, number, 0);
}

#[cfg(test)]
mod tests;
