use fathom_model::TestError;

/// What can go wrong with a program's answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The output holds no result.
    #[error("fio's output holds no JSON with jobs; it begins with \"{begin}\"")]
    NoJson {
        /// Its first characters.
        begin: String,
    },
    /// The output was cut.
    #[error("fio's output is longer than {limit} bytes")]
    TooLong {
        /// What is kept of a program's output.
        limit: usize,
    },
}

impl From<ProfileError> for TestError {
    fn from(error: ProfileError) -> Self {
        Self::Workload(Box::new(error))
    }
}
