import Faultline
import Foundation
import Testing

/// A store of `Work1`, and the result that a migration must have.
enum WorkStore {
    static let count = 200

    static func photo(_ number: Int) -> Data {
        Data((0..<9_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
    }

    static func make(in stores: Stores) throws {
        try stores.use(Work1.self) { _, context in
            let rooms = (0..<4).map { Work1.Room(label: "r\($0)") }
            rooms.forEach { context.insert($0) }
            var employees: [Work1.Employee] = []
            for number in 0..<count {
                let employee = Work1.Employee(number: number, name: "F\(number) L\(number)", city: "c\(number % 7)")
                employee.room = rooms[number % 4]
                employee.boss = number > 0 ? employees[number / 10] : nil
                if number % 5 == 0 { employee.photo = photo(number) }
                context.insert(employee)
                employees.append(employee)
            }
            for number in 0..<10 {
                let project = Work1.Project(title: "p\(number)")
                project.lead = employees[number * 11]
                context.insert(project)
            }
            try context.save()
        }
    }

    /// Makes a store whose migration has stopped at an object, because its closure threw.
    static func makeStopped(in stores: Stores, _ notes: StageNotes, _ options: MigrationOptions) throws {
        try make(in: stores)
        notes.throwsAt = 155
        _ = StageNotes.$current.withValue(notes) {
            #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, WorkPlan.self, migration: options)
            }
        }
        notes.throwsAt = nil
    }

    static func check(_ context: ModelContext, photosMoved: Bool = true) throws {
        let employees = try context.all(Work2.Employee.self).sorted { $0.number < $1.number }
        #expect(employees.map(\.number) == (0..<count).filter { $0 % 10 != 9 })
        for employee in employees {
            let number = employee.number
            #expect(employee.firstName == "F\(number)")
            #expect(employee.lastName == "L\(number)")
            #expect(employee.city?.name == "c\(number % 7)")
            #expect(employee.room?.label == "r\(number % 4)")
            let boss = number / 10
            #expect(employee.boss?.number == (number > 0 && boss % 10 != 9 ? boss : nil))
            if photosMoved {
                #expect(employee.photo?.bytes == (number % 5 == 0 ? photo(number) : nil))
                #expect(employee.photo == nil || employee.photo?.owner?.number == number)
            }
        }
        let cities = try context.all(Work2.City.self).sorted { $0.name < $1.name }
        #expect(cities.map(\.name) == (0..<7).map { "c\($0)" })
        for (place, city) in cities.enumerated() {
            let expected = (0..<count).filter { $0 % 7 == place && $0 % 10 != 9 }
            #expect(city.people.map(\.number).sorted() == expected)
            #expect(city.lastNumber == expected.last)
        }
        for room in try context.all(Work2.Room.self) {
            let place = Int(room.label.dropFirst()) ?? 0
            #expect(room.people.map(\.number).sorted() == (0..<count).filter { $0 % 4 == place && $0 % 10 != 9 })
        }
        for project in try context.all(Work2.Project.self) {
            let lead = (Int(project.title.dropFirst()) ?? 0) * 11
            #expect(project.lead?.number == (lead % 10 == 9 ? nil : lead), "\(project.title)")
        }
    }
}
