//! Colours: distinguishable by colour-blind readers, the same for a system in every chart of a
//! page; the style rules of charts.

/// Colours of systems.
const COLOURS: usize = 8;

/// The colours of a page or picture.
pub(crate) struct Theme {
    /// Names and values of the style variables.
    pub variables: [(&'static str, &'static str); 11],
    /// Colours of systems.
    pub systems: [&'static str; COLOURS],
}

/// Dark on light.
pub(crate) const LIGHT: Theme = Theme {
    variables: [
        ("bg", "#ffffff"),
        ("panel", "#f5f7f9"),
        ("ink", "#1a2027"),
        ("muted", "#56616d"),
        ("grid", "#dbe1e6"),
        ("accent", "#005a8d"),
        ("good", "#1c6b3c"),
        ("warn", "#8a5200"),
        ("bad", "#a8201a"),
        ("better", "#0072b2"),
        ("worse", "#d55e00"),
    ],
    systems: [
        "#0072b2", "#d55e00", "#00875a", "#8a3fd1", "#7a1010", "#b07c9e", "#2e2a7a", "#9a8c5a",
    ],
};

/// Light on dark.
pub(crate) const DARK: Theme = Theme {
    variables: [
        ("bg", "#15181c"),
        ("panel", "#1e2328"),
        ("ink", "#e6eaee"),
        ("muted", "#a3adb8"),
        ("grid", "#343b43"),
        ("accent", "#7cc0f0"),
        ("good", "#74cf96"),
        ("warn", "#f0b45a"),
        ("bad", "#ff8f87"),
        ("better", "#56a9e6"),
        ("worse", "#f08a3c"),
    ],
    systems: [
        "#56a9e6", "#f08a3c", "#3cc89b", "#a06be8", "#e3d44a", "#d23c4b", "#f3b8d0", "#6e7f94",
    ],
};

/// The rules of all charts; `$name` stands for a style variable, `$c` for a system's colour.
const RULES: &str = "\
.chart text{font:12px 'DejaVu Sans',Verdana,system-ui,sans-serif;fill:$ink}\
.chart .h{font-size:15px;font-weight:700}\
.chart .s,.chart .m,.chart .k{fill:$muted}\
.chart .s,.chart .m{font-size:11px}\
.chart .k{font-size:10.5px}\
.chart .q{paint-order:stroke;stroke:$bg;stroke-width:3px;stroke-linejoin:round}\
.chart .g{stroke:$grid;stroke-width:1}\
.chart .f,.chart .v3t{fill:$bad}\
.chart .v2t{fill:$warn}\
.chart .w{fill:$ink;fill-opacity:.16;stroke:$ink;stroke-width:1}\
.chart .o{fill:$bg;stroke:$ink;stroke-width:1}\
.chart .x{fill:none;stroke:$ink;stroke-width:1}\
.chart .u{fill:$ink;fill-opacity:.55}\
.chart .v3{fill-opacity:.12;stroke-dasharray:4 3;stroke-width:1}\
.chart .p1{fill-opacity:.55;stroke-width:1.5}\
.chart .p2{fill-opacity:.22;stroke-width:1.5;stroke-dasharray:2 2}\
.chart .l{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
.chart .l1{stroke-dasharray:7 4}\
.chart .l2{stroke-dasharray:2 4}\
.chart .th{stroke-width:1.2;stroke-opacity:.75}\
.chart .z{fill:$grid;fill-opacity:.6}\
.chart .hb{fill:$better}\
.chart .hw{fill:$worse}";

/// Appends the rules of charts with the colours of a theme; `variable` writes how a variable is
/// referred to.
pub(crate) fn push_rules(out: &mut String, theme: &Theme, variable: fn(&str, &str) -> String) {
    let mut rest = RULES;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let end = after.bytes().take_while(u8::is_ascii_lowercase).count();
        let (name, tail) = after.split_at(end);
        let known = theme.variables.iter().find(|(known, _)| *known == name);
        assert!(
            known.is_some(),
            "the rules name only variables of the theme"
        );
        if let Some((name, value)) = known {
            out.push_str(&variable(name, value));
        }
        rest = tail;
    }
    out.push_str(rest);
    for (place, colour) in theme.systems.iter().enumerate() {
        let colour = variable(&format!("c{place}"), colour);
        // Writing to a String cannot fail.
        let _ = std::fmt::Write::write_fmt(
            out,
            format_args!(
                ".chart .c{place}{{fill:{colour};stroke:{colour}}}\
                 .chart .l.c{place}{{fill:none}}"
            ),
        );
    }
}

#[cfg(test)]
mod tests;
