import Faultline
import FaultlineTestSupport
import Testing

@Model final class Ticket {
    #Unique<Ticket>([\.number, \.hall])

    @Attribute(.unique) var code: String
    var number: Int?
    var hall: Hall?
    var note: Int = 0

    init(_ code: String, number: Int?, hall: Hall?, note: Int) {
        self.code = code
        self.number = number
        self.hall = hall
        self.note = note
    }
}

/// Objects that replace stored ones, with a to-one relationship in one of their keys, compared with plain values.
///
/// They are read through every object that was ever held.
@Suite struct RandomUpsertTests {
    private struct Plain: Equatable {
        var number: Int?
        var hall: String?
        var note: Int

        /// The value that must be unique; nil if there is none.
        var key: String? {
            guard let number, let hall else { return nil }
            return "\(number) \(hall)"
        }
    }

    /// The last operation on a code since the last save; higher cases may follow lower ones.
    private enum Phase: Int { case untouched, updated, deleted, inserted }

    @Test(arguments: Seed.list(10)) func theStoreAgreesWithPlainValues(seed: Seed) throws {
        var random = seed
        let store = try TestStore(Ticket.self)
        var context = store.context()
        var plain: [String: Plain] = [:]
        var held: [(ticket: Ticket, code: String)] = []
        var gone: [Ticket] = []
        var steps: [String] = []
        var saves = 0
        for round in 0..<40 {
            var next = plain
            var phases: [String: Phase] = [:]
            var made: [(ticket: Ticket, code: String)] = []
            var dropped: [Ticket] = []
            // Which object an insert replaces would depend on the order.
            var isAmbiguous = false
            for step in 0..<(1 + random.below(6)) {
                let code = "c\(random.below(5))"
                let phase = phases[code] ?? .untouched
                let note = round * 10 + step
                let number: Int? = random.oneIn(5) ? nil : random.below(3)
                let hallName: String? = random.oneIn(3) ? nil : "h\(random.below(2))"
                // A new hall replaces the stored one with its name.
                let hall = hallName.map { Hall($0) }
                let known = held.filter { $0.code == code }.map(\.ticket)
                let kind = random.below(7)
                if kind < 3, phase.rawValue < Phase.deleted.rawValue, plain[code] != nil {
                    let ticket =
                        try known.isEmpty
                        ? #require(
                            try context.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.code == code })).first)
                        : random.pick(known)
                    if kind == 0 {
                        context.delete(ticket)
                        next[code] = nil
                        phases[code] = .deleted
                        dropped += known
                        steps.append("delete \(code)")
                        continue
                    }
                    ticket.note = note
                    next[code]?.note = note
                    if kind == 1 {
                        ticket.number = number
                        ticket.hall = hall
                        next[code]?.number = number
                        next[code]?.hall = hallName
                    }
                    phases[code] = .updated
                    for other in known { #expect(other.note == note, "\(steps.suffix(12)) \(seed.replayLine)") }
                    steps.append("update \(code) \(kind == 1 ? "\(number ?? -1) \(hallName ?? "-")" : "")")
                } else {
                    let ticket = Ticket(code, number: number, hall: hall, note: note)
                    context.insert(ticket)
                    made.append((ticket, code))
                    let value = Plain(number: number, hall: hallName ?? next[code]?.hall, note: note)
                    next[code] = value
                    phases[code] = .inserted
                    if let key = value.key {
                        isAmbiguous =
                            isAmbiguous
                            || (Array(plain) + Array(next)).contains { $0.key != code && $0.value.key == key }
                    }
                    steps.append("insert \(code) \(number ?? -1) \(hallName ?? "-")")
                }
            }
            let keys = next.values.compactMap(\.key)
            if isAmbiguous || Set(keys).count < keys.count || random.oneIn(8) {
                context.rollback()
                steps.append("rollback")
            } else {
                do {
                    try context.save()
                    saves += 1
                    plain = next
                    gone += dropped
                    held.removeAll { entry in dropped.contains { $0 === entry.ticket } }
                    held += made
                    steps.append("save")
                } catch let error as SwiftDataError where error == .modelValidationFailure {
                    // Values that an upsert releases can be used only by later changes: an error is allowed, a wrong
                    // state is not.
                    context.rollback()
                    steps.append("refused")
                }
            }
            let trace: Comment = "\(steps.suffix(16)) \(seed.replayLine)"
            try store.verify()
            var found: [String: Plain] = [:]
            for ticket in try store.context().all(Ticket.self) {
                found[ticket.code] = Plain(number: ticket.number, hall: ticket.hall?.name, note: ticket.note)
            }
            #expect(found == plain, trace)
            for (ticket, code) in held {
                let read = Plain(number: ticket.number, hall: ticket.hall?.name, note: ticket.note)
                #expect(ticket.code == code && read == plain[code], trace)
                #expect(!ticket.isDeleted && !ticket.hasChanges, trace)
            }
            for ticket in gone { #expect(ticket.isDeleted && ticket.modelContext == nil, trace) }
            if found != plain { return }
            if random.oneIn(8) {
                held = []
                gone = []
                context = try store.reopened()
                steps.append("reopen")
            }
        }
        #expect(saves > 5)
    }

    @Test func anObjectThatTookAnothersPlaceIsThatObject() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        let user = User("a", age: 1)
        context.insert(user)
        try context.save()
        let alias = User("a", age: 2)
        context.insert(alias)
        try context.save()
        #expect(alias.age == 2)
        user.age = 3
        #expect(alias.age == 3)
        #expect(alias.hasChanges)
        try context.save()
        #expect(alias.age == 3)
        alias.first = "F"
        alias.team = Team("t")
        #expect(user.first == "F")
        #expect(user.team?.name == "t")
        #expect(alias.team === user.team)
        #expect(user.team?.users == [user])
        #expect(user.team?.users.first === user)
        #expect(context.changedModelsArray.count == 1)
        try context.save()
        // When it is added to a collection, it is the existing member.
        let team = try #require(user.team)
        team.users = [alias]
        try context.save()
        #expect(try store.reopened().first(Team.self).users.count == 1)
    }

    @Test func anObjectThatTookAnothersPlaceIsDeletedWithIt() throws {
        let store = try TestStore(User.self)
        for deletesAlias in [true, false] {
            let context = store.context()
            let user = User("a", age: 1)
            context.insert(user)
            try context.save()
            let alias = User("a", age: 2)
            context.insert(alias)
            try context.save()
            context.delete(deletesAlias ? alias : user)
            #expect(alias.isDeleted && user.isDeleted)
            user.age = 5
            try context.save()
            #expect(alias.isDeleted && user.isDeleted)
            #expect(alias.modelContext == nil)
            #expect(alias.age == 5)
            #expect(try store.reopened().fetchCount(FetchDescriptor<User>()) == 0)
        }
    }

    @Test func aValueByReferenceIsCopiedByAnUpsert() throws {
        let store = try TestStore(Page.self, Photo.self)
        let context = store.context()
        let photo = Photo("p")
        photo.large = Data(repeating: 7, count: 20_000)
        context.insert(photo)
        context.insert(Page("a"))
        try context.save()
        let page = Page("a")
        page.setBlob(photo.blob(\.large), for: \.picture)
        context.insert(page)
        try context.save()
        context.delete(photo)
        try context.save()
        #expect(try store.reopened().first(Page.self).picture == Data(repeating: 7, count: 20_000))
    }

    @Test func anUpdateAndAnInsertOfOneSaveLeaveOneSetOfKeys() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        let user = User("a", first: "A", last: "A")
        context.insert(user)
        try context.save()
        user.first = "B"
        user.last = "B"
        context.insert(User("a", first: "C", last: "C"))
        try context.save()
        try store.verify()
        context.insert(User("b", first: "B", last: "B"))
        try context.save()
        #expect(try store.reopened().all(User.self).map(\.first) == ["C", "B"])
    }
}
