import Faultline
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Testing

/// The sequence of a migration's progress ends whether the opening succeeds or fails.
@Suite(.timeLimit(.minutes(5))) struct ProgressEndTests {
    private func makeConfiguration(_ folder: TemporaryDirectory) -> (ModelConfiguration, AsyncStream<MigrationProgress>)
    {
        var configuration = ModelConfiguration(url: URL(filePath: "\(folder.path)/a.store"))
        let updates = configuration.options.migration.progressUpdates()
        return (configuration, updates)
    }

    private static var badSchema: Schema {
        Schema(
            entities: [
                Schema.Entity(
                    "A",
                    properties: Schema.Relationship(name: "b", destination: "Missing", isToOne: true, isOptional: true))
            ])
    }

    @Test func `a schema that breaks a rule`() async {
        let folder = TemporaryDirectory()
        let (configuration, updates) = makeConfiguration(folder)
        #expect(throws: (any Error).self) { try ModelContainer(for: Self.badSchema, configurations: [configuration]) }
        for await _ in updates {}
        let (second, others) = makeConfiguration(folder)
        #expect(throws: (any Error).self) {
            try ModelContainer.previewMigration(for: Self.badSchema, configurations: [second])
        }
        for await _ in others {}
        withExtendedLifetime((configuration, second)) {}
    }

    @Test func `two configurations`() async {
        let folder = TemporaryDirectory()
        let (first, updates) = makeConfiguration(folder)
        let (second, others) = makeConfiguration(folder)
        #expect(throws: (any Error).self) {
            try ModelContainer(for: Schema(versionedSchema: People1.self), configurations: [first, second])
        }
        for await _ in updates {}
        for await _ in others {}
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a dry run without a store, and an opening that migrates nothing`() async throws {
        let folder = TemporaryDirectory()
        let (first, updates) = makeConfiguration(folder)
        #expect(throws: SwiftDataError.self) {
            try ModelContainer.previewMigration(
                for: Schema(versionedSchema: People1.self), configurations: [first])
        }
        for await _ in updates {}
        let (second, others) = makeConfiguration(folder)
        #expect(throws: SwiftDataError.self) { try ModelContainer(opening: second) }
        for await _ in others {}
        withExtendedLifetime((first, second)) {}
    }
}
