import Faultline
import Testing

/// Tests the models of the other targets, compiled with other settings.
@Suite struct ModelsInSwift5Tests {
    @Test func work() {
        let employee = Employee(name: "Ada")
        employee.grade += 1
        employee.tasks.append(Task(title: "t"))

        #expect(employee.grade == 2)
        #expect(employee.tasks.map(\.title) == ["t"])
        #expect(Employee.schemaMetadata.count == 13)
    }

    @Test func carryValuesOverInAStaticVariable() throws {
        let configuration = ModelConfiguration(
            url: FileManager.default.temporaryDirectory.appending(path: "readings-\(UUID())"))
        defer { try? FileManager.default.removeItem(at: configuration.url) }
        let old = try ModelContainer(for: Readings1.Reading.self, configurations: configuration)
        let context = ModelContext(old)
        for value in ["1.5", "wrong", "4"] { context.insert(Readings1.Reading(value: value)) }
        try context.save()
        try old.close()

        let new = try ModelContainer(
            for: Readings2.Reading.self, migrationPlan: ReadingsPlan.self, configurations: configuration)
        let readings = try ModelContext(new).fetch(FetchDescriptor<Readings2.Reading>())

        #expect(readings.map(\.number) == [1.5, 4])
        try new.close()
    }
}
