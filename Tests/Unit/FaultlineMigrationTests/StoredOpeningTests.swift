import Faultline
import FaultlineTestSupport
import Testing

/// Stores opened under the schema that they contain, while a migration is about to change it.
@Suite struct StoredOpeningTests {
    @Test func `M16 (realm-swift#3777): a migration that was cut short is found, read and left alone`() throws {
        let stores = Stores(isOnDisk: true)
        try stores.use(Work1.self) { _, context in
            for number in 0..<200 {
                context.insert(Work1.Employee(number: number, name: "first last", city: "c"))
            }
            try context.save()
        }
        let notes = StageNotes()
        notes.throwsAt = 155
        var options = MigrationOptions()
        options.batchByteCount = 1
        try StageNotes.$current.withValue(notes) {
            _ = #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, WorkPlan.self, migration: options)
            }
            let url = URL(filePath: stores.directory, directoryHint: .isDirectory)
            let container = try ModelContainer(opening: ModelConfiguration(url: url))
            let context = ModelContext(container)
            let employees = try context.fetch(FetchRequest(entityName: "Employee"))
            #expect(employees.count == 200 && employees[7]["name"] as? String == "first last")
            employees[7]["name"] = "other"
            let error = #expect(throws: StorageError.self) { try context.save() }
            #expect("\(error as Any)".contains("is being migrated"))
            try container.close()

            notes.throwsAt = nil
            try stores.use(Work2.self, WorkPlan.self, migration: options) { container, _ in
                #expect(container.migrationReport.resumes == 1)
            }
        }
    }
}
