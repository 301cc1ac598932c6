use fathom_model::{Case, ImplementationKind, Test, TestInfo, nearest};

/// The tests of this binary; one that has two implementations is there twice.
pub struct Registry {
    tests: Vec<Box<dyn Test>>,
}

impl Registry {
    /// From the tests, in the order they are listed; of a test's implementations the first one is
    /// preferred.
    pub fn new(tests: Vec<Box<dyn Test>>) -> Self {
        Self { tests }
    }

    /// All tests.
    pub fn tests(&self) -> impl Iterator<Item = &dyn Test> {
        self.tests.iter().map(AsRef::as_ref)
    }

    /// The infos of all tests.
    pub fn infos(&self) -> Vec<TestInfo> {
        self.tests().map(Test::info).collect()
    }

    /// Names of the tests, each once.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for id in self.tests().map(Test::id) {
            if !names.contains(&id) {
                names.push(id);
            }
        }
        names
    }

    /// The implementations of a test, the preferred one first; empty when there is no such test.
    pub fn named(&self, name: &str) -> Vec<&dyn Test> {
        self.tests().filter(|test| test.id() == name).collect()
    }

    /// A test in a certain implementation, or in the preferred one.
    pub fn find(&self, name: &str, kind: Option<ImplementationKind>) -> Option<&dyn Test> {
        self.named(name)
            .into_iter()
            .find(|test| kind.is_none_or(|kind| test.info().implementation.kind == kind))
    }

    /// The test that carries out a case: same name, same kind and name of the implementation. Its
    /// version may differ; see [`TestInfo::version`].
    pub fn for_case(&self, case: &Case) -> Option<&dyn Test> {
        self.named(&case.test).into_iter().find(|test| {
            let implementation = test.info().implementation;
            implementation.kind == case.implementation.kind
                && implementation.name == case.implementation.name
        })
    }

    /// The name nearest to one that is no test.
    pub fn nearest(&self, name: &str) -> Option<String> {
        nearest(name, self.names())
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
