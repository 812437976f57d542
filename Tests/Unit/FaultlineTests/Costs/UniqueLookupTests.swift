import Faultline
import FaultlineObjects
import Foundation
import Testing

/// Fetches of one value of a unique attribute, which prepare no query.
@Suite struct UniqueLookupTests {
    @Test("C2: find or create by a unique attribute prepares no query, stored or not")
    func preparesNoQuery() throws {
        let store = try TestStore(User.self, place: .memory)
        let context = store.context()
        func find(_ email: String) throws -> User? {
            try context.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.email == email })).first
        }
        for turn in 0..<2 {
            for number in 0..<100 where try find("\(number)") == nil { context.insert(User("\(number)")) }
            #expect(try find("7")?.email == "7" && find("100") == nil)
            #expect(context.core.reports.walked.candidateListings == 0)
            if turn == 0 { try context.save() }
        }
        // The reverse comparison prepares a query, which lists the matching objects.
        try find("8")?.age = 1
        let email = "8"
        #expect(try context.fetch(FetchDescriptor<User>(predicate: #Predicate { email == $0.email })).count == 1)
        #expect(context.core.reports.walked.candidateListings == 1)
    }

    @Test("stored, changed, inserted and deleted objects are found as by a query", arguments: [true, false])
    func findsWhatAQueryFinds(hasChanges: Bool) throws {
        let store = try TestStore(Keyed.self)
        let setup = store.context()
        for number in 0..<6 { setup.insert(Keyed(number)) }
        try setup.save()
        let context = try store.reopened()
        if hasChanges {
            let stored = try context.all(Keyed.self)
            stored[0].take(10)
            stored[1].take(0)
            context.delete(stored[2])
            stored[3].count = 1
            context.insert(Keyed(11))
            context.insert(Keyed(5))
            let left = Keyed(12)
            context.insert(left)
            context.delete(left)
            let outgrown = Keyed(13)
            context.insert(outgrown)
            _ = try context.fetch(FetchDescriptor<Keyed>(predicate: #Predicate { $0.number == 13 }))
            outgrown.take(14)
        }
        for number in 0..<16 {
            let (value, other) = (Keyed(number), number)
            let (text, uuid, url, color, data) = (value.text, value.uuid, value.url, value.color, value.data)
            try compare(context, #Predicate { $0.number == other }, #Predicate { other == $0.number })
            try compare(context, #Predicate { $0.text == text }, #Predicate { text == $0.text })
            try compare(context, #Predicate { $0.uuid == uuid }, #Predicate { uuid == $0.uuid })
            try compare(context, #Predicate { $0.url == url }, #Predicate { url == $0.url })
            try compare(context, #Predicate { $0.color == color }, #Predicate { color == $0.color })
            try compare(context, #Predicate { $0.data == data }, #Predicate { data == $0.data })
        }
        try compare(context, #Predicate { $0.text == nil }, #Predicate { nil == $0.text })
    }

    private func compare(
        _ context: ModelContext, _ predicate: Predicate<Keyed>, _ other: Predicate<Keyed>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var (one, two) = (FetchDescriptor<Keyed>(predicate: predicate), FetchDescriptor<Keyed>(predicate: other))
        for countsPending in [true, false] {
            for (limit, offset) in [(nil, nil), (1, nil), (0, 0), (nil, 1)] as [(Int?, Int?)] {
                (one.fetchLimit, two.fetchLimit) = (limit, limit)
                (one.fetchOffset, two.fetchOffset) = (offset, offset)
                (one.includePendingChanges, two.includePendingChanges) = (countsPending, countsPending)
                let (found, expected) = (try context.fetch(one), try context.fetch(two))
                let isSame = found.elementsEqual(expected, by: ===)
                #expect(isSame, sourceLocation: sourceLocation)
            }
        }
    }

    @Test("text is found in every normal form, and a value too large for the row")
    func textAsCharacters() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        context.insert(User(composed))
        let large = String(repeating: "x", count: 3_000)
        context.insert(User(large))
        for isStored in [false, true] {
            for email in [composed, decomposed, large] {
                let found = try context.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.email == email }))
                #expect(found.map(\.email) == [email])
            }
            if !isStored { try context.save() }
        }
    }

    @Test("a predicate of another context's variable is no look-up")
    func foreignVariable() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        context.insert(User("a"))
        try context.save()
        let foreign = PredicateExpressions.Variable<User>()
        let predicate = Predicate<User> { _ in
            PredicateExpressions.build_Equal(
                lhs: PredicateExpressions.build_KeyPath(root: foreign, keyPath: \.email),
                rhs: PredicateExpressions.build_Arg("a"))
        }
        #expect(throws: (any Error).self) { try context.fetch(FetchDescriptor(predicate: predicate)) }
    }
}

@Model final class Keyed {
    @Attribute(.unique) var number: Int
    @Attribute(.unique) var text: String?
    @Attribute(.unique) var uuid: UUID
    @Attribute(.unique) var url: URL
    @Attribute(.unique) var color: Color?
    @Attribute(.unique) var data: Data
    var count = 0

    init(_ number: Int) {
        self.number = number
        text = ""
        uuid = UUID()
        url = URL(filePath: "/")
        data = Data()
        take(number)
    }

    /// Takes its values from a number.
    func take(_ number: Int) {
        self.number = number
        text = "text \(number)"
        uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: number)))
        url = URL(filePath: "/\(number)")
        color = Color.allCases.indices.contains(number) ? Color.allCases[number] : nil
        data = Data([0, UInt8(truncatingIfNeeded: number)])
    }
}
