use super::contains;

/// Files that are known and hold no result that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Other {
    /// Errors of fio without any output.
    FioMessages,
    /// A fio job file.
    FioJobFile,
    /// A PTS definition: test profile, suite, list of elements.
    PtsDefinition,
    /// Console output of PTS.
    PtsConsole,
    /// Output of iozone.
    Iozone,
    /// Output of bonnie or bonnie++.
    Bonnie,
    /// Output of sysbench.
    Sysbench,
    /// Output of DiskSpd.
    DiskSpd,
    /// Output of stress-ng.
    StressNg,
    /// An HTML page.
    Html,
    /// A PDF file.
    Pdf,
    /// A compressed file or archive.
    Archive,
}

struct Known {
    kind: Other,
    name: &'static str,
    title: &'static str,
    reason: &'static str,
}

const MEASURE: &str = "it is the log of a program, without the machine and the options it ran with";

const KNOWN: [Known; 12] = [
    Known {
        kind: Other::FioMessages,
        name: "fio-messages",
        title: "messages of fio",
        reason: "fio printed only errors and no result",
    },
    Known {
        kind: Other::FioJobFile,
        name: "fio-job-file",
        title: "fio job file",
        reason: "it says what to run; run it and import the output of fio --output-format=json+",
    },
    Known {
        kind: Other::PtsDefinition,
        name: "pts-definition",
        title: "PTS definition",
        reason: "it defines a test or a layout; results are in composite.xml",
    },
    Known {
        kind: Other::PtsConsole,
        name: "pts-console",
        title: "console output of PTS",
        reason: "it is meant for people; import the composite.xml of the same run",
    },
    Known {
        kind: Other::Iozone,
        name: "iozone",
        title: "output of iozone",
        reason: MEASURE,
    },
    Known {
        kind: Other::Bonnie,
        name: "bonnie",
        title: "output of bonnie",
        reason: MEASURE,
    },
    Known {
        kind: Other::Sysbench,
        name: "sysbench",
        title: "output of sysbench",
        reason: MEASURE,
    },
    Known {
        kind: Other::DiskSpd,
        name: "diskspd",
        title: "output of DiskSpd",
        reason: MEASURE,
    },
    Known {
        kind: Other::StressNg,
        name: "stress-ng",
        title: "output of stress-ng",
        reason: "it is no storage benchmark",
    },
    Known {
        kind: Other::Html,
        name: "html",
        title: "HTML page",
        reason: "save the text of the page (select all, copy) or export the result as XML",
    },
    Known {
        kind: Other::Pdf,
        name: "pdf",
        title: "PDF file",
        reason: "extract its text first: pdftotext -raw FILE.pdf",
    },
    Known {
        kind: Other::Archive,
        name: "archive",
        title: "compressed file",
        reason: "unpack it first",
    },
];

impl Other {
    fn known(self) -> &'static Known {
        KNOWN
            .iter()
            .find(|known| known.kind == self)
            .unwrap_or(&KNOWN[0])
    }

    pub(super) fn name(self) -> &'static str {
        self.known().name
    }

    pub(super) fn title(self) -> &'static str {
        self.known().title
    }

    /// Why there is no result, and what to do.
    pub(crate) fn reason(self) -> &'static str {
        self.known().reason
    }
}

/// Tells what a file is that holds no result.
pub(super) fn detect(bytes: &[u8]) -> Option<Other> {
    for (magic, kind) in [
        (&b"%PDF-"[..], Other::Pdf),
        (b"PK\x03\x04", Other::Archive),
        (b"\x1f\x8b", Other::Archive),
        (b"\xfd7zXZ", Other::Archive),
        (b"\x28\xb5\x2f\xfd", Other::Archive),
        (b"BZh", Other::Archive),
    ] {
        if bytes.starts_with(magic) {
            return Some(kind);
        }
    }
    let head = &bytes[..bytes.len().min(64 << 10)];
    let marks: [(&[&[u8]], Other); 9] = [
        (
            &[b"<PhoronixTestSuite", b"<Definitions>"],
            Other::PtsDefinition,
        ),
        (
            &[b"<PhoronixTestSuite", b"<TestInformation>"],
            Other::PtsDefinition,
        ),
        (
            &[b"<PhoronixTestSuite", b"<ResultsParser>"],
            Other::PtsDefinition,
        ),
        (
            &[b"<PhoronixTestSuite", b"<SuiteInformation>"],
            Other::PtsDefinition,
        ),
        (&[b"Iozone: Performance Test of File I/O"], Other::Iozone),
        (&[b"------Sequential Output------"], Other::Bonnie),
        (&[b"Command Line: ", b"Total IO\n"], Other::DiskSpd),
        (&[b"stress-ng: ", b"bogo ops"], Other::StressNg),
        (&[b"fio: ", b"error="], Other::FioMessages),
    ];
    for (needed, kind) in marks {
        if needed.iter().all(|mark| contains(head, mark)) {
            return Some(kind);
        }
    }
    let text = String::from_utf8_lossy(head);
    detect_text(&text)
}

fn detect_text(text: &str) -> Option<Other> {
    let mut lines = text.lines().map(str::trim);
    if lines.clone().any(|line| {
        line.trim_start_matches('\u{feff}').starts_with("sysbench ")
            || line.contains(" sysbench 1.")
    }) {
        return Some(Other::Sysbench);
    }
    let runs = text.contains("Phoronix Test Suite") || text.contains("phoronix-test-suite");
    if runs && (text.contains("Started Run ") || text.contains("Average: ")) {
        return Some(Other::PtsConsole);
    }
    if text.contains("verify failed at file") {
        return Some(Other::FioMessages);
    }
    if text.contains("Input parameters:") && text.contains("timespan:") {
        return Some(Other::DiskSpd);
    }
    let start = text.trim_start();
    if ["<!doctype html", "<html"].iter().any(|tag| {
        start
            .get(..tag.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(tag))
    }) {
        return Some(Other::Html);
    }
    let is_bonnie_csv = |line: &str| {
        (line.starts_with("1.9") || line.starts_with("1.0")) && line.matches(',').count() > 20
    };
    if lines.clone().any(is_bonnie_csv) {
        return Some(Other::Bonnie);
    }
    let sections = lines
        .clone()
        .filter(|line| line.starts_with('[') && line.ends_with(']'))
        .count();
    let has_option = lines.any(|line| {
        [
            "rw=",
            "bs=",
            "ioengine=",
            "blocksize=",
            "size=",
            "readwrite=",
            "iodepth=",
        ]
        .iter()
        .any(|option| line.starts_with(option))
    });
    (sections > 0 && has_option).then_some(Other::FioJobFile)
}
