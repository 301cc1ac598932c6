//! The command line as resolved: nothing optional is left that a command would have to guess.

use std::path::{Path, PathBuf};

use fathom_base::WallTime;
use jiff::tz::TimeZone;

use crate::args::Cli;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::{ColorWhen, Look};

/// Columns of a line when nobody says.
const COLUMNS: usize = 80;
const COLUMNS_RANGE: std::ops::RangeInclusive<usize> = 40..=500;

/// What every command may need.
#[derive(Clone, Debug)]
pub struct Settings {
    data: Option<PathBuf>,
    /// Directory of a person's own suites.
    pub suites: Option<PathBuf>,
    /// Directory of a person's own profiles.
    pub profiles: Option<PathBuf>,
    /// Where programs are looked up.
    pub search_path: std::ffi::OsString,
    /// The time zone dates are written in.
    pub zone: TimeZone,
    /// How output may look.
    pub look: Look,
    /// Whether progress can be drawn on stderr.
    pub draws_progress: bool,
}

impl Settings {
    /// Resolves arguments and environment.
    pub fn resolve(cli: &Cli, environment: Environment) -> Self {
        let (out_is_terminal, err_is_terminal) = crate::terminals();
        let color = match cli.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => out_is_terminal && !environment.no_color,
        };
        let columns = environment.columns.or_else(|| {
            let size = out_is_terminal.then(terminal_size::terminal_size).flatten();
            size.map(|(width, _)| usize::from(width.0))
        });
        Self {
            data: cli.data.clone().or_else(|| environment.data_directory()),
            suites: environment.suite_directory(),
            profiles: environment.profile_directory(),
            look: Look {
                columns: columns
                    .unwrap_or(COLUMNS)
                    .clamp(*COLUMNS_RANGE.start(), *COLUMNS_RANGE.end()),
                color,
            },
            zone: TimeZone::system(),
            draws_progress: err_is_terminal,
            search_path: environment.search_path,
        }
    }

    /// A moment as a person here writes it, to the minute.
    pub fn minute(&self, time: WallTime) -> String {
        let time = jiff::Timestamp::from_millisecond(time.unix_ms()).unwrap_or_default();
        let time = time.to_zoned_datetime(self.zone.clone());
        time.strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// The directory of saved results.
    ///
    /// # Errors
    /// When neither an argument nor a variable says where.
    pub fn data(&self) -> Result<&Path, Failure> {
        self.data.as_deref().ok_or_else(|| {
            Failure::unmet("there is no directory to save results in: HOME is not set")
                .detail("name one with --data DIR or the variable FATHOM_DATA")
        })
    }
}
