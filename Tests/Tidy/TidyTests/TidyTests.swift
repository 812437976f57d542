import Testing

/// Checks the style rules against every file of the repository.
@Suite struct TidyTests {
    private func expectNone(_ rule: some TidyRule) {
        for violation in rule.violations(in: Repository.files) { Issue.record("\(violation)") }
    }

    @Test func findsTheRepository() {
        #expect(Repository.files.contains { $0.path == "Package.swift" })
        #expect(Repository.files.contains { $0.path == "Tests/Tidy/TidyTests/TidyTests.swift" })
        #expect(!Repository.files.contains { $0.path.contains(".build/") })
    }

    @Test func importsFollowTheLayers() { expectNone(ImportRule()) }
    @Test func nothingIsTestable() { expectNone(TestableRule()) }
    @Test func noClosureIsTaskLocal() { expectNone(TaskLocalRule()) }
    @Test func librariesDoNotTrapOrPrint() { expectNone(TrapRule()) }
    @Test func theThreadSanitizerSeesLocks() { expectNone(SeenLockRule()) }
    @Test func testsStartThreadsOfTheirOwn() { expectNone(OwnThreadRule()) }
    @Test func nothingIsLeftToDo() { expectNone(ToDoRule()) }
    @Test func uncheckedPromisesAreExplained() { expectNone(SafeBecauseRule()) }
    @Test func oneWordHasOneMeaning() { expectNone(GlossaryRule()) }
    @Test func typesAreNamedForWhatTheyDo() { expectNone(TypeNameRule()) }
    @Test func filesAreNamedAfterTheirTypes() { expectNone(FileNameRule()) }
    @Test func markdownHasOneTitle() { expectNone(MarkdownTitleRule()) }
    @Test func markdownFitsBesideAnEditor() { expectNone(MarkdownWidthRule()) }
    @Test func publicErrorsAreDocumented() { expectNone(ErrorDocumentationRule()) }
    @Test func errorsAreInTheCatalogue() { expectNone(ErrorCatalogueRule()) }
    @Test func theGuideIsCompiled() { expectNone(SnippetRule()) }
    @Test func articlesAreShortAndBeginWithAUse() { expectNone(ArticleRule()) }
    @Test func markdownLeadsToFiles() { expectNone(MarkdownReferenceRule()) }
    @Test func theTourUsesTheNamesOfTheSource() { expectNone(ArchitectureNameRule()) }
    @Test func noFileIsLarge() { expectNone(FileSizeRule()) }
    @Test func noPathBelongsToOneMachine() { expectNone(MachinePathRule()) }
    @Test func statementsAreTested() { expectNone(StatementRule()) }
    @Test func fixturesAreListed() { expectNone(FixtureListRule()) }
}
