import Faultline
import FaultlineMigration
import Foundation
import Testing

/// An object that violates one rule of a new version and satisfies another.
struct QuarantineRuleTests {
    enum Hall1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Guest.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Guest {
            var seat: String
            var badge: String
            init(seat: String, badge: String) {
                self.seat = seat
                self.badge = badge
            }
        }
    }

    enum Hall2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Guest.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Guest {
            @Attribute(.unique) var seat: String
            @Attribute(.unique) var badge: String
            init(seat: String, badge: String) {
                self.seat = seat
                self.badge = badge
            }
        }
    }

    /// The second and the fifth guest violate one rule, and have the value that the next guest has under the other.
    private static let guests = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "z"), ("c", "w"), ("d", "w")]

    @Test func `an object that is put aside for one rule takes no value of another one from the rest`() throws {
        let stores = Stores()
        try stores.use(Hall1.self) { _, context in
            for (seat, badge) in Self.guests { context.insert(Hall1.Guest(seat: seat, badge: badge)) }
            try context.save()
        }
        let options = MigrationOptions(onFailure: .quarantine(limit: 2))
        let report = try stores.preview(Hall2.self, migration: options)
        #expect(report.failures.compactMap(\.object) == [2, 5])
        try stores.use(Hall2.self, migration: options) { container, context in
            var listed: [UInt64] = []
            try container.quarantine().enumerate { listed.append($0.number) }
            #expect(listed == [2, 5])
            try #expect(context.all(Hall2.Guest.self).map(\.seat).sorted() == ["a", "b", "c", "d"])
        }
        try #expect(stores.findings(Hall2.self) == [])
        // The guests that are left have the value, and no others can get it.
        try stores.use(Hall2.self) { _, context in
            for (seat, badge) in [("b", "v"), ("u", "w")] { context.insert(Hall2.Guest(seat: seat, badge: badge)) }
            try context.save()
            let found = try context.all(Hall2.Guest.self).map { "\($0.seat)\($0.badge)" }.sorted()
            #expect(found == ["ax", "bv", "cz", "uw"])
        }
        try #expect(stores.findings(Hall2.self) == [])
    }
}
