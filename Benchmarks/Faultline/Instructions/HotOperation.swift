import BenchmarkKit
import Faultline
import Foundation

/// An operation whose instructions are counted.
///
/// Stores are in memory: only Faultline's own code is counted, the same on every machine.
struct HotOperation: Sendable {
    let name: String
    /// Operations of the shorter run; the longer one does twice as many.
    let count: Int
    /// The count of a second, larger run, if an operation must not cost more among many; nil for none.
    var largerCount: Int?
    /// Does `count` operations, on a store that is the same for any count.
    ///
    /// Operations that read repeat their pass over the store as often as necessary, each time in a new context.
    let run: @Sendable (_ count: Int) throws -> Void

    /// Objects in the stores that operations read and change.
    private static let storedCount = 8_000
    /// Objects of one transaction.
    private static let batchSize = 500

    static let all: [HotOperation] = [
        insert, update, read, count, walk, touch, uniqueLookup, firstByValue, predicate, indexEntry, commit, blobRead,
        append, findOrCreate,
    ]

    // MARK: Writing

    /// One new object, 500 a transaction.
    private static let insert = HotOperation(name: "insert", count: storedCount) { count in
        _ = try filled(count)
    }

    /// One number of one object, found by its identifier, 500 a transaction.
    private static let update = HotOperation(name: "update", count: 4_000) { count in
        let context = ModelContext(try filled(storedCount))
        try change(count, context) { employee, place in employee.salary = Double(place) }
    }

    /// A new value of a unique attribute: a look-up, one entry less and one more, 500 a transaction.
    private static let indexEntry = HotOperation(name: "index entry", count: 4_000) { count in
        let context = ModelContext(try filled(storedCount))
        try change(count, context) { employee, place in employee.email = "\(place)@new.test" }
    }

    /// One save of one new object.
    private static let commit = HotOperation(name: "commit of one object", count: 1_000) { count in
        let context = ModelContext(try filled(0))
        let departments = try EmployeeStore.departments(in: context)
        let maker = EmployeeMaker()
        for id in 1...count {
            let values = EmployeeRecord(maker.employee(id))
            context.insert(Employee(values, department: departments[values.department - 1]))
            try context.save()
        }
    }

    /// One new object appended to a to-many relationship of an unsaved one; nothing is saved.
    private static let append = HotOperation(name: "append", count: 1_000, largerCount: 100_000) { count in
        let context = ModelContext(try filled(0))
        let department = Department(name: "new")
        context.insert(department)
        let maker = EmployeeMaker()
        for id in 1...count {
            department.employees.append(Employee(EmployeeRecord(maker.employee(id)), department: nil))
        }
        try check("employees", department.employees.count, is: count)
    }

    /// One object looked up by a unique attribute and created; nothing is saved.
    private static let findOrCreate = HotOperation(
        name: "find or create", count: 1_000, largerCount: 100_000
    ) { count in
        let context = ModelContext(try filled(0))
        let maker = EmployeeMaker()
        for id in 1...count {
            let email = maker.email(id)
            let found = try context.fetch(FetchDescriptor<Employee>(predicate: #Predicate { $0.email == email }))
            try check("employees found", found.count, is: 0)
            context.insert(Employee(EmployeeRecord(maker.employee(id)), department: nil))
        }
    }

    // MARK: Reading

    /// Two attributes of one object, found by its identifier, in no order.
    private static let read = HotOperation(name: "read by id", count: storedCount) { count in
        let container = try filled(storedCount)
        let identifiers = try ModelContext(container).fetchIdentifiers(FetchDescriptor<Employee>())
        let order = DrawnOrder.permutation(count: storedCount, stream: 1)
        for _ in 0..<count / storedCount {
            let context = ModelContext(container)
            var byteCount = 0
            var salary = 0.0
            for id in order {
                guard let employee = context.model(for: identifiers[id - 1]) as? Employee else { continue }
                byteCount += employee.name.utf8.count
                salary += employee.salary
            }
            try check("bytes of names", byteCount, is: 16 * storedCount)
        }
    }

    /// One object of a count by predicate.
    private static let count = HotOperation(name: "count", count: 20 * storedCount) { count in
        let container = try filled(storedCount)
        let wellPaid = FetchDescriptor<Employee>(predicate: #Predicate { $0.salary > 120_000 && $0.active })
        let expected = EmployeeSums(first: storedCount).wellPaidCount
        for _ in 0..<count / storedCount {
            try check("count", ModelContext(container).fetchCount(wellPaid), is: expected)
        }
    }

    /// One object of a walk, all nine attributes read.
    private static let walk = HotOperation(name: "walk", count: 4 * storedCount) { count in
        let container = try filled(storedCount)
        for _ in 0..<count / storedCount {
            try check("employees", EmployeeStore.sums(in: ModelContext(container)).count, is: storedCount)
        }
    }

    /// One attribute of a fault in an array, in the array's order.
    private static let touch = HotOperation(name: "touch a fault", count: 4 * storedCount) { count in
        let container = try filled(storedCount)
        let expected = EmployeeSums(first: storedCount).salary
        for _ in 0..<count / storedCount {
            var salary = 0.0
            for employee in try ModelContext(container).fetch(FetchDescriptor<Employee>()) { salary += employee.salary }
            try check("salaries", salary, is: expected)
        }
    }

    /// A fetch of one object by a unique attribute, and one attribute of it.
    private static let uniqueLookup = HotOperation(name: "unique look-up", count: 2_000) { count in
        let context = ModelContext(try filled(storedCount))
        let maker = EmployeeMaker()
        for id in DrawnOrder.permutation(count: storedCount, stream: 2).prefix(count) {
            let email = maker.email(id)
            let found = try context.fetch(FetchDescriptor<Employee>(predicate: #Predicate { $0.email == email }))
            try check("salary", found.first?.salary, is: maker.employee(id).salary)
        }
    }

    /// The same look-up without a predicate, and one attribute of the object.
    private static let firstByValue = HotOperation(name: "first by unique value", count: 2_000) { count in
        let context = ModelContext(try filled(storedCount))
        let maker = EmployeeMaker()
        // Made for every employee, so that no operation pays for it.
        let emails = (1...storedCount).map { maker.email($0) }
        let salaries = (1...storedCount).map { maker.employee($0).salary }
        var wrongCount = 0
        for id in DrawnOrder.permutation(count: storedCount, stream: 2).prefix(count) {
            let found = try context.first(\Employee.email, equals: emails[id - 1])
            if found?.salary != salaries[id - 1] { wrongCount += 1 }
        }
        try check("wrong salaries", wrongCount, is: 0)
    }

    /// The part of a unique look-up that is none of Faultline: the predicate.
    private static let predicate = HotOperation(name: "making a predicate", count: 2_000) { count in
        let maker = EmployeeMaker()
        let emails = (1...storedCount).map { maker.email($0) }
        var made: Predicate<Employee>?
        for id in DrawnOrder.permutation(count: storedCount, stream: 2).prefix(count) {
            let email = emails[id - 1]
            made = #Predicate { $0.email == email }
        }
        try check("predicates made", made == nil ? 0 : 1, is: 1)
    }

    /// A kilobyte of a large value.
    private static let blobRead = HotOperation(name: "blob read", count: 1_000) { count in
        let container = try ModelContainer(
            for: Photographed.Employee.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        let employees = (1...20).map { id in
            let values = EmployeeRecord(EmployeeMaker().employee(id))
            return Photographed.Employee(values, photo: Data(Photo.bytes(id: id)), department: nil)
        }
        for employee in employees { context.insert(employee) }
        try context.save()
        var source = SplitMix64(1)
        var byteCount = 0
        for place in 0..<count {
            let start = source.draw(below: Photo.byteCount - 1024)
            byteCount += try employees[place % 20].blob(\.photo)?.data(in: start..<start + 1024).count ?? 0
        }
        try check("bytes", byteCount, is: 1024 * count)
    }

    // MARK: Stores

    /// A store in memory with the hundred departments and `count` employees.
    private static func filled(_ count: Int) throws -> ModelContainer {
        let container = try ModelContainer(
            for: Employee.self,
            Department.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        for number in 1...EmployeeStore.departmentCount {
            context.insert(Department(name: EmployeeMaker.departmentName(number)))
        }
        try context.save()
        let departments = try EmployeeStore.departments(in: context)
        let maker = EmployeeMaker()
        for start in stride(from: 1, through: count, by: batchSize) {
            for id in start..<min(start + batchSize, count + 1) {
                let values = EmployeeRecord(maker.employee(id))
                context.insert(Employee(values, department: departments[values.department - 1]))
            }
            try context.save()
        }
        return container
    }

    /// Changes `count` employees, each once, in no order.
    private static func change(
        _ count: Int,
        _ context: ModelContext,
        _ body: (Employee, _ place: Int) -> Void
    ) throws {
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Employee>())
        let order = DrawnOrder.permutation(count: storedCount, stream: 3)
        for start in stride(from: 0, to: count, by: batchSize) {
            for place in start..<min(start + batchSize, count) {
                guard let employee = context.model(for: identifiers[order[place] - 1]) as? Employee else { continue }
                body(employee, place)
            }
            try context.save()
        }
    }
}
