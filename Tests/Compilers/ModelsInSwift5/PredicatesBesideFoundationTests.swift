import Faultline
import Foundation
import Testing

/// Predicates of models and of plain types, in a file that imports Foundation too.
@Suite struct PredicatesBesideFoundationTests {
    private nonisolated struct Point { var x = 0 }

    private static func named(_ name: String?) -> Predicate<Employee>? {
        name.map { name in #Predicate { $0.name == name } }
    }

    @Test func compile() throws {
        let employee = Employee(name: "Ada")
        employee.tasks.append(Task(title: "t"))
        let ada = #Predicate<Employee> { $0.name == "Ada" && $0.level == Level.junior }
        let busy = #Predicate<Employee> { ada.evaluate($0) && $0.tasks.contains { $0.title.hasPrefix("t") } }
        let grade = #Expression<Employee, Int> { $0.grade + 1 }
        let graded: Predicate<Employee> = #Predicate { grade.evaluate($0) == Int(2.5) }

        #expect(try busy.evaluate(employee) && graded.evaluate(employee))
        #expect(try Self.named("Ada")?.evaluate(employee) == true)
        #expect(try #Predicate<Point> { $0.x > 1 }.evaluate(Point(x: 2)))
        #expect(try #Predicate<Point, Int> { $0.x > $1 }.evaluate(Point(x: 2), 1))
        #expect(try #Expression<Point, Int> { $0.x + 1 }.evaluate(Point(x: 2)) == 3)
    }
}
