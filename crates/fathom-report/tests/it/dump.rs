//! Writes renderings for looking at: `FATHOM_DUMP=DIR cargo test -p fathom-report dump`.

use std::path::PathBuf;

use fathom_model::compare::{Arm, CompareOptions, compare};
use fathom_report::svg::{self, Look};
use fathom_report::text::{self, ShowOptions};

use crate::corpus::{oracle_input, shared};
use crate::synthetic;

#[test]
fn dump_for_looking_at() {
    let Some(folder) = std::env::var_os("FATHOM_DUMP").map(PathBuf::from) else {
        return;
    };
    std::fs::create_dir_all(&folder).unwrap();
    let mut files = vec![
        ("one", synthetic::measured_with_unavailable(&["made-up"])),
        (
            "three",
            synthetic::measured(&["Samsung 970 EVO", "Optane 900P", "WD Blue 2TB"]),
        ),
    ];
    for name in ["edge", "seed000", "seed002"] {
        files.extend(oracle_input(name).map(|file| (name, file)));
    }
    for (name, seed) in [
        ("s0", "000_73503f6dd28b12bd"),
        ("s1", "001_92a3d0e2ad904b6c"),
        ("s2", "002_f4b38a536cee9ad0"),
        ("s4", "004_567557d1c2952ae1"),
    ] {
        let text = shared(&format!("seeds/{seed}.txt"));
        let read = |text: String| fathom_formats::import(text.as_bytes(), seed).ok();
        files.extend(text.and_then(read).map(|file| (name, file)));
    }
    for (name, file) in &files {
        let systems: Vec<&str> = file.systems.iter().map(|s| s.identifier.as_str()).collect();
        let arms: Vec<Arm<'_>> = systems
            .iter()
            .map(|system| Arm {
                label: system,
                file,
                system,
            })
            .collect();
        if let [first, second, ..] = arms.as_slice() {
            let compared = compare(*first, &[*second], CompareOptions::default());
            let page = fathom_report::html_comparison(&compared);
            std::fs::write(folder.join(format!("{name}.compare.html")), page).unwrap();
        }
        for width in [80, 120] {
            let options = ShowOptions {
                width,
                color: false,
            };
            std::fs::write(
                folder.join(format!("{name}.show.w{width}.txt")),
                text::show(file, options),
            )
            .unwrap();
            std::fs::write(
                folder.join(format!("{name}.sum.w{width}.txt")),
                text::summary(file, options),
            )
            .unwrap();
        }
        let pictures = folder.join(format!("{name}.svg"));
        std::fs::create_dir_all(&pictures).unwrap();
        for chart in svg::charts(file, Look::Screen) {
            std::fs::write(pictures.join(format!("{}.svg", chart.id)), chart.svg).unwrap();
        }
        #[cfg(feature = "export")]
        {
            let pdf = fathom_report::export::pdf(file).unwrap();
            std::fs::write(folder.join(format!("{name}.pdf")), pdf).unwrap();
            for chart in svg::charts(file, Look::Print).iter().take(3) {
                let png = fathom_report::export::png(chart, 2.0).unwrap();
                std::fs::write(folder.join(format!("{name}.{}.png", chart.id)), png).unwrap();
            }
        }
        let page = fathom_report::html(file);
        std::fs::write(folder.join(format!("{name}.html")), page).unwrap();
        std::fs::write(
            folder.join(format!("{name}.explain.txt")),
            fathom_report::explain(file),
        )
        .unwrap();
    }
}
