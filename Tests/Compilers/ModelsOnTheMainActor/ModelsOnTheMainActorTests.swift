import Faultline
import Testing

/// Tests the models of the other targets, compiled with other settings.
@Suite struct ModelsOnTheMainActorTests {
    @Test func work() {
        let employee = Employee(name: "Ada")
        employee.grade += 1
        employee.tasks.append(Task(title: "t"))

        #expect(employee.grade == 2)
        #expect(employee.tasks.map(\.title) == ["t"])
        #expect(Employee.schemaMetadata.count == 13)
    }
}
