//! The environment, read once and only here.

use std::ffi::OsString;
use std::path::PathBuf;

/// Variables Fathom reads, with what they do: for `--help` and the reference page.
pub const TABLE: [(&str, &str); 7] = [
    (
        "FATHOM_DATA",
        "directory of saved results; default $XDG_DATA_HOME/fathom, else ~/.local/share/fathom",
    ),
    ("XDG_DATA_HOME", "base of the directory of saved results"),
    (
        "XDG_CONFIG_HOME",
        "base of the configuration: your own suites are $XDG_CONFIG_HOME/fathom/suites/*.toml, your \
         own tests $XDG_CONFIG_HOME/fathom/profiles/*.toml; default ~/.config",
    ),
    ("HOME", "where the two defaults above begin"),
    ("NO_COLOR", "when set and not empty, no colour is used"),
    (
        "COLUMNS",
        "width of a line, 40 to 500; default the terminal's, 80 in a pipe",
    ),
    ("PATH", "where programs such as fio are looked up"),
];

/// What was found there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `FATHOM_DATA`.
    pub data: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub data_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// Whether `NO_COLOR` is set.
    pub no_color: bool,
    /// `COLUMNS`, when it is a number.
    pub columns: Option<usize>,
    /// `PATH`.
    pub search_path: OsString,
}

impl Environment {
    /// Reads the variables of this process.
    pub fn read() -> Self {
        let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let path = |name| value(name).map(PathBuf::from);
        Self {
            data: path("FATHOM_DATA"),
            data_home: path("XDG_DATA_HOME"),
            config_home: path("XDG_CONFIG_HOME"),
            home: path("HOME"),
            no_color: value("NO_COLOR").is_some(),
            columns: value("COLUMNS").and_then(|text| text.to_str()?.parse().ok()),
            search_path: value("PATH").unwrap_or_default(),
        }
    }

    /// Where results are saved; `None` when no variable says where.
    pub fn data_directory(&self) -> Option<PathBuf> {
        self.data
            .clone()
            .or_else(|| Some(self.data_home.as_ref()?.join("fathom")))
            .or_else(|| Some(self.home.as_ref()?.join(".local/share/fathom")))
    }

    /// Where a person's own suites are; `None` when no variable says where.
    pub fn suite_directory(&self) -> Option<PathBuf> {
        Some(self.configuration()?.join("suites"))
    }

    /// Where a person's own profiles are; `None` when no variable says where.
    pub fn profile_directory(&self) -> Option<PathBuf> {
        Some(self.configuration()?.join("profiles"))
    }

    fn configuration(&self) -> Option<PathBuf> {
        let base = self
            .config_home
            .clone()
            .or_else(|| Some(self.home.as_ref()?.join(".config")))?;
        Some(base.join("fathom"))
    }
}
