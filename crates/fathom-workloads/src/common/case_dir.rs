use std::fs;
use std::path::{Path, PathBuf};

use fathom_base::IoContext;
use fathom_model::{Case, Context, TestError};

/// A directory of one case in the run's scratch directory, removed at the end whatever happens.
#[derive(Debug)]
pub(crate) struct CaseDir {
    path: PathBuf,
    is_removed: bool,
}

impl CaseDir {
    /// Makes it; its name is the test's and the case's id.
    pub(crate) fn create(case: &Case, cx: &Context<'_>) -> Result<Self, TestError> {
        let path = cx.scratch.join(format!("{}-{}", case.test, case.id));
        fs::create_dir(&path).map_err(|error| TestError::io("creating", &path, error))?;
        Ok(Self {
            path,
            is_removed: false,
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it and all in it.
    pub(crate) fn remove(mut self) -> Result<(), TestError> {
        self.is_removed = true;
        fs::remove_dir_all(&self.path).at("remove", &self.path)?;
        Ok(())
    }
}

impl Drop for CaseDir {
    fn drop(&mut self) {
        if !self.is_removed {
            // On the way out of an error; the runner removes the whole scratch directory too.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
