import Faultline
import FaultlineLog
import FaultlineStore
import FaultlineTestSupport
import Testing

/// Random inserts, updates and deletions of objects with several uniqueness constraints, compared with plain values.
@Suite struct RandomUniquenessTests {
    private struct Plain: Equatable {
        var first: String?
        var last: String?
        var age: Int

        /// The value that must be unique; nil if there is none.
        var name: String? {
            guard let first, let last else { return nil }
            return "\(first) \(last)"
        }
    }

    /// Changes a few objects.
    ///
    /// - Returns: The values after the changes.
    private func change(
        _ plain: [String: Plain], _ context: ModelContext, round: Int, _ steps: inout [String],
        _ random: inout Seed
    ) throws -> [String: Plain] {
        var next = plain
        var usedEmails: Set<String> = []
        for _ in 0..<(1 + random.below(5)) {
            let email = "e\(random.below(6))"
            // One change per object in a save: the meaning of several changes in one save depends on their order.
            guard usedEmails.insert(email).inserted else { continue }
            let first: String? = random.oneIn(4) ? nil : "f\(random.below(3))"
            let last: String? = random.oneIn(4) ? nil : "l\(random.below(2))"
            let object =
                plain[email] == nil
                ? nil
                : try context.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.email == email })).first
            switch random.below(6) {
            case 0 where object != nil:
                context.delete(try #require(object))
                next[email] = nil
                steps.append("delete \(email)")
            case 1...2 where object != nil:
                let object = try #require(object)
                object.first = first
                object.last = last
                object.age = round
                next[email] = Plain(first: first, last: last, age: round)
                steps.append("update \(email) \(first ?? "-") \(last ?? "-")")
            default:
                context.insert(User(email, first: first, last: last, age: round))
                next[email] = Plain(first: first, last: last, age: round)
                steps.append("insert \(email) \(first ?? "-") \(last ?? "-")")
            }
        }
        return next
    }

    @Test(arguments: Seed.list(20, unoptimized: 8)) func theStoreAgreesWithPlainValues(seed: Seed) throws {
        var random = seed
        let store = try TestStore(User.self)
        var context = store.context()
        var plain: [String: Plain] = [:]
        var steps: [String] = []
        for round in 0..<40 {
            let next = try change(plain, context, round: round, &steps, &random)
            let names = next.values.compactMap(\.name)
            // Two objects with one name make an upsert or an error, by their order; neither is compared here.
            if Set(names).count < names.count {
                context.rollback()
                steps.append("rollback")
            } else {
                // Values that an upsert releases can be used only by later changes: an error is allowed, a wrong state
                // is not.
                do {
                    try context.save()
                    plain = next
                    steps.append("save")
                } catch let error as SwiftDataError where error == .modelValidationFailure {
                    context.rollback()
                    steps.append("refused")
                }
            }
            if random.oneIn(6) { context = try store.reopened() }
            try store.verify()
            var found: [String: Plain] = [:]
            for user in try store.context().all(User.self) {
                #expect(found[user.email] == nil, "\(steps.suffix(12)) \(seed.replayLine)")
                found[user.email] = Plain(first: user.first, last: user.last, age: user.age)
            }
            #expect(found == plain, "\(steps.suffix(12)) \(seed.replayLine)")
            if found != plain { return }
        }
        #expect(steps.contains("save"))
    }

    @Test func aToOneRelationshipIsPartOfAKey() throws {
        let store = try TestStore(Seat.self)
        let context = store.context()
        let hall = Hall("a")
        context.insert(Seat(1, hall))
        context.insert(Seat(2, hall))
        try context.save()
        // A hall and a seat that both exist already, replaced by new objects.
        let again = Seat(1, Hall("a"))
        again.note = "taken"
        context.insert(again)
        context.insert(Seat(1, Hall("b")))
        try context.save()
        let read = try store.reopened()
        #expect(try read.fetchCount(FetchDescriptor<Hall>()) == 2)
        let seats = try read.all(Seat.self)
        #expect(seats.map { "\($0.row) \($0.hall?.name ?? "-") \($0.note)" } == ["1 a taken", "2 a ", "1 b "])
        // A change that violates uniqueness.
        seats[1].row = 1
        #expect(throws: SwiftDataError.modelValidationFailure) { try read.save() }
        seats[1].hall = seats[2].hall
        seats[2].row = 3
        try read.save()
        try store.verify()
    }
}

@Suite struct OrderKeysOfManyMembersTests {
    @Test func reversingManyTimesKeepsTheOrder() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        folder.documents = (0..<400).map { Document("\($0)", number: $0) }
        try context.save()
        var wanted = Array(0..<400)
        for round in 0..<12 {
            folder.documents.reverse()
            wanted.reverse()
            let new = Document("n", number: 1_000 + round)
            context.insert(new)
            try context.save()
            new.folder = folder
            wanted.append(1_000 + round)
            try context.save()
            #expect(folder.documents.map(\.number) == wanted, "round \(round)")
        }
        #expect(try store.reopened().first(Folder.self).documents.map(\.number) == wanted)
    }

    @Test func anInsertInTheMiddleRewritesNoOtherMember() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        folder.documents = (0..<100).map { Document("\($0)", number: $0) }
        try context.save()
        folder.documents.insert(Document("new"), at: 50)
        folder.documents.insert(folder.documents[100], at: 0)
        let before = store.container.rowStore.log.snapshot()
        try context.save()
        let table = try #require(store.container.rowStore.storage.entity(named: "Document")).table
        let after = store.container.rowStore.log.snapshot()
        var rewritten = 0
        for number in 1...UInt64(100)
        where try before.location(of: number, in: table) != after.location(of: number, in: table) {
            rewritten += 1
        }
        #expect(rewritten == 1)
    }
}
