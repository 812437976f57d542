import Faultline
import FaultlineMigration
import Foundation
import Testing

/// Identifiers that were saved before their class was renamed.
struct RenamedIdentifierTests {
    @Test func `lead to the same object`() throws {
        let stores = Stores()
        let saved = try stores.use(Staff1.self) { _, context in
            for name in ["a", "b"] { context.insert(Staff1.Person(name: name)) }
            try context.save()
            let people = try context.all(Staff1.Person.self).sorted { $0.name < $1.name }
            return try people.map { try JSONEncoder().encode($0.persistentModelID) }
        }
        let identifiers = try saved.map { try JSONDecoder().decode(PersistentIdentifier.self, from: $0) }
        for _ in 0..<2 {
            try stores.use(Staff2.self) { _, context in
                let second = try #require(try context.existing(identifiers[1], as: Staff2.Employee.self))
                #expect(second.name == "b")
                #expect((context.model(for: identifiers[0]) as? Staff2.Employee)?.name == "a")
                #expect(context.registeredModel(for: identifiers[1]) as Staff2.Employee? === second)
                #expect(try context.existing(identifiers[1], as: Staff2.Team.self) == nil)
            }
        }
        // Renamed once more: the original name is that of the first version.
        try stores.use(Staff3.self) { _, context in
            try #expect(context.existing(identifiers[0], as: Staff3.Colleague.self)?.name == "a")
        }
    }
}
