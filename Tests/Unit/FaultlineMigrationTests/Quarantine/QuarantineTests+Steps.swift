import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Foundation
import Testing

/// Lightweight steps.
extension QuarantineTests {
    /// Makes readers (the third and the fifth have the email of the first), their tickets, and one without a reader.
    private func makeDesk() throws -> Stores {
        let stores = Stores()
        try stores.use(Desk1.self) { _, context in
            let clubs = ["x", "y"].map(Desk1.Club.init)
            clubs.forEach(context.insert)
            for number in 0..<6 {
                let reader = Desk1.Reader(email: number == 2 || number == 4 ? "r0@h" : "r\(number)@h")
                reader.photo = Data(repeating: UInt8(number), count: 6_000)
                context.insert(reader)
                reader.clubs = number == 2 ? clubs : [clubs[0]]
                let ticket = Desk1.Ticket(number: number)
                ticket.reader = reader
                context.insert(ticket)
                try context.save()
            }
            context.insert(Desk1.Ticket(number: 6))
            try context.save()
        }
        return stores
    }

    private static let deskList: Set<String> = [
        "Reader 3 duplicate", "Reader 5 duplicate", "Ticket 7 required", "Ticket 3 dangling", "Ticket 5 dangling",
    ]

    @Test func `rows that contradict a lightweight step leave their tables with the switch`() throws {
        let stores = try makeDesk()
        let rows = try stores.rows()
        #expect(throws: MigrationError.self) { try stores.open(Desk2.self) }
        try #expect(stores.rows() == rows)
        let old = try stores.open(Desk1.self)
        let before = ModelContext(old)
        try #expect(before.fetchCount(FetchDescriptor<Desk1.Reader>()) == 6)
        try stores.use(Desk2.self, migration: options()) { container, context in
            try #expect(Set(listed(container)) == Self.deskList)
            try #expect(context.all(Desk2.Reader.self).map(\.email).sorted() == ["r0@h", "r1@h", "r3@h", "r5@h"])
            try #expect(context.all(Desk2.Ticket.self).map(\.number).sorted() == [0, 1, 3, 5])
            try #expect(context.all(Desk2.Ticket.self).allSatisfy { $0.reader.email.hasPrefix("r\($0.number)") })
            let clubs = try context.all(Desk2.Club.self).sorted { $0.name < $1.name }
            #expect(clubs.map { $0.readers.map(\.email).sorted() } == [["r0@h", "r1@h", "r3@h", "r5@h"], []])
            // The first reader still has the value.
            context.insert(Desk2.Reader(email: "r0@h"))
            try context.save()
            try #expect(context.fetchCount(FetchDescriptor<Desk2.Reader>()) == 4)
            let third = try object("Reader", 3, in: container)
            try #expect(
                related(third, container) == ["clubs → Club": [1, 2], "Club.readers": [1, 2], "Ticket.reader": [3]])
            let photo = try container.quarantine().bytes(of: "photo", in: third)
            #expect(photo == Data(repeating: 2, count: 6_000))
        }
        // The old container can still read.
        try #expect(before.all(Desk1.Reader.self).count == 4)
        try old.close()
        try #expect(stores.findings(Desk2.self) == [])
        try stores.use(Desk2.self) { container, context in
            try #expect(Set(listed(container)) == Self.deskList)
            try #expect(context.fetchCount(FetchDescriptor<Desk2.Reader>()) == 4)
        }
    }

    @Test func `a later stage of the same migration leaves out rows that an earlier one has put aside`() throws {
        let stores = try makeDesk()
        try stores.use(Desk3.self, DeskPlan.self, migration: options(1)) { container, context in
            try #expect(Set(listed(container)) == Self.deskList)
            let readers = try context.all(Desk3.Reader.self)
            #expect(readers.map(\.email).sorted() == ["r0@h", "r1@h", "r3@h", "r5@h"])
            #expect(readers.allSatisfy { $0.host == "h" && $0.photo?.count == 6_000 })
            try #expect(context.all(Desk3.Ticket.self).map(\.number).sorted() == [0, 1, 3, 5])
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 6)
            let clubs = try context.all(Desk3.Club.self).sorted { $0.name < $1.name }
            #expect(clubs.map { $0.readers.map(\.email).sorted() } == [["r0@h", "r1@h", "r3@h", "r5@h"], []])
        }
        try #expect(stores.findings(Desk3.self) == [])
    }
}
