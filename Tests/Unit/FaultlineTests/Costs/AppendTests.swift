import Faultline
import FaultlineTestSupport
import Observation
import Testing

/// Changes of to-many properties in place: their costs, and that every way of reading sees them.
@Suite struct AppendTests {
    // MARK: Cost

    @Test("C1: an append to a stored collection looks at no other member")
    func appendCostsTheSameInALargeCollection() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        folder.documents = (0..<1_000).map { Document("\($0)", number: $0) }
        try context.save()
        let before = context.core.reports.walked.collectedMembers
        for number in 1_000..<4_000 { folder.documents.append(Document("\(number)", number: number)) }
        #expect(context.core.reports.walked.collectedMembers - before <= 1_000)
        #expect(folder.documents.map(\.number) == Array(0..<4_000))
        try context.save()
        #expect(try store.reopened().first(Folder.self).documents.map(\.number) == Array(0..<4_000))
    }

    @Test("C1: an append to a collection in no context looks at few other members")
    func appendCostsTheSameInNoContext() throws {
        let folder = Folder("f")
        let label = Label("l")
        for number in 0..<3_000 {
            let document = Document("\(number)", number: number)
            folder.documents.append(document)
            label.documents.append(document)
        }
        #expect(folder._$coreAddress().pointee.comparedMembers(3) < 140_000)
        #expect(label._$coreAddress().pointee.comparedMembers(1) < 140_000)
        #expect(folder.documents.map(\.number) == Array(0..<3_000))
        #expect(folder.documents.allSatisfy { $0.folder === folder && $0.labels == [label] })
    }

    @Test("C1: a member that named its owner first is appended once, at no cost")
    func appendOfAMemberThatNamesItsOwner() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        folder.documents = [Document("0")]
        for number in 1..<2_000 {
            let document = Document("\(number)", number: number)
            context.insert(document)
            document.folder = folder
            folder.documents.append(document)
        }
        #expect(context.core.reports.walked.collectedMembers < 20)
        #expect(folder.documents.map(\.number) == Array(0..<2_000))
        let detached = Folder("g")
        for number in 0..<2_000 {
            let document = Document("\(number)", number: number)
            document.folder = detached
            detached.documents.append(document)
        }
        #expect(detached.documents.map(\.number) == Array(0..<2_000))
        #expect(detached._$coreAddress().pointee.comparedMembers(3) < 400_000)
    }

    @Test("C1: appends by turns to several collections, and links")
    func appendsByTurns() throws {
        let store = try TestStore(Folder.self, Playlist.self, place: .memory)
        let context = store.context()
        let folders = (0..<10).map { Folder("\($0)") }
        let labels = (0..<10).map { Label("\($0)") }
        let list = Playlist("p")
        folders.forEach(context.insert)
        labels.forEach(context.insert)
        context.insert(list)
        try context.save()
        for number in 0..<4_000 {
            let document = Document("\(number)", number: number)
            folders[number % 10].documents.append(document)
            labels[number % 10].documents.append(document)
            document.labels.append(labels[(number + 1) % 10])
            list.songs.append(Song("\(number)"))
        }
        #expect(context.core.reports.walked.collectedMembers < 20_000)
        try context.save()
        let again = try store.reopened()
        for (place, folder) in try again.all(Folder.self, sortBy: [SortDescriptor(\.name)]).enumerated() {
            #expect(folder.documents.map(\.number) == (0..<400).map { $0 * 10 + place })
        }
        for (place, label) in try again.all(Label.self, sortBy: [SortDescriptor(\.text)]).enumerated() {
            let numbers = Set(label.documents.map(\.number))
            #expect(numbers == Set((0..<4_000).filter { $0 % 10 == place || ($0 + 1) % 10 == place }))
        }
        #expect(try again.first(Playlist.self).songs.map(\.name) == (0..<4_000).map { "\($0)" })
    }

    @Test("C1: a collection that is read again and again is collected twice")
    func readingAgainCollectsNothing() throws {
        let store = try TestStore(Folder.self, place: .memory)
        var context = store.context()
        context.insert(Folder("f"))
        try context.first(Folder.self).documents = (0..<500).map { Document("\($0)", number: $0) }
        try context.save()
        context = store.context()
        let folder = try context.first(Folder.self)
        var sum = 0
        for place in 0..<folder.documents.count { sum += folder.documents[place].number }
        #expect(sum == 124_750)
        #expect(context.core.reports.walked.collectedMembers == 1_000)
        // Other contexts' changes are visible after the next fetch.
        let other = store.context()
        try other.first(Folder.self).documents.append(Document("new", number: 500))
        try other.save()
        #expect(folder.documents.count == 500)
        _ = try context.first(Folder.self)
        #expect(folder.documents.count == 501)
    }

    // MARK: Correctness

    /// Changes members in place without changing the length: one leaves, one takes its place, and one is appended.
    private func exchange(_ members: inout [Document], _ new: Document, _ last: Document) {
        members[3] = new
        members.append(last)
    }

    private struct Exchanged {
        let store: TestStore
        let context: ModelContext
        let folder: Folder
        let old: Document
        let new = Document("new", number: 10_000)
        let last = Document("last", number: 10_001)

        var expected: [Int] { [0, 1, 2, 10_000] + Array(4..<1_000) + [10_001] }
    }

    private func exchanged() throws -> Exchanged {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        folder.documents = (0..<1_000).map { Document("\($0)", number: $0) }
        try context.save()
        let made = Exchanged(store: store, context: context, folder: folder, old: folder.documents[3])
        exchange(&folder.documents, made.new, made.last)
        return made
    }

    /// The ways of reading a change in place.
    enum Look: CaseIterable {
        case members, inverseOfOld, inverseOfLast, count, contains, walk, fetch, fetchCount, enumerate, inserted
        case hasChanges, save, copy, identifiers, delete, saveTwice, setInverse, append, insert, process
    }

    @Test("C1: each way of looking sees the members that a change in place has left", arguments: Look.allCases)
    func changesInPlaceAreSeen(look: Look) throws {
        let made = try exchanged()
        let (context, folder) = (made.context, made.folder)
        let ofFolder = FetchDescriptor<Document>(predicate: #Predicate { $0.folder?.name == "f" })
        var expected = made.expected
        switch look {
        case .members: #expect(folder.documents.map(\.number) == expected)
        case .inverseOfOld: #expect(made.old.folder == nil)
        case .inverseOfLast: #expect(made.last.folder === folder && made.last.modelContext === context)
        case .count: #expect(folder.relationship(\.documents).count == 1_001)
        case .contains:
            let members = folder.relationship(\.documents)
            #expect(!members.contains(made.old) && members.contains(made.new) && members.contains(made.last))
        case .walk: #expect(folder.relationship(\.documents).map(\.number) == expected)
        case .fetch: #expect(Set(try context.fetch(ofFolder).map(\.number)) == Set(expected))
        case .fetchCount: #expect(try context.fetchCount(ofFolder) == 1_001)
        case .enumerate:
            var numbers: Set<Int> = []
            try context.enumerate(ofFolder, allowEscapingMutations: true) { numbers.insert($0.number) }
            #expect(numbers == Set(expected))
        case .inserted: #expect(context.insertedModelsArray.count == 2)
        case .hasChanges: #expect(context.hasChanges)
        case .save: try context.save()
        case .saveTwice:
            try context.save()
            try context.save()
        case .copy:
            guard case .objects(let members)? = try folder.valueCopy(including: .collections)["documents"] else {
                Issue.record("no members")
                return
            }
            #expect(members.count == 1_001)
        case .identifiers: #expect(folder.documents[3].persistentModelID == made.new.persistentModelID)
        case .delete:
            context.delete(made.last)
            #expect(folder.documents.last?.number == 999)
            expected.removeLast()
        case .setInverse:
            made.last.folder = nil
            expected.removeLast()
            #expect(folder.documents.count == 1_000)
        case .append:
            folder.documents.append(Document("after", number: 10_002))
            expected.append(10_002)
        case .insert:
            folder.relationship(\.documents).insert(Document("after", number: 10_002))
            expected.append(10_002)
        case .process: context.processPendingChanges()
        }
        #expect(folder.documents.map(\.number) == expected)
        #expect(made.old.folder == nil && made.new.folder === folder)
        try context.save()
        let again = try made.store.reopened()
        #expect(try again.first(Folder.self).documents.map(\.number) == expected)
        #expect(try again.fetchCount(ofFolder) == expected.count)
    }

    @Test("C1: a rollback takes a change in place back")
    func aRollbackTakesItBack() throws {
        let made = try exchanged()
        made.context.rollback()
        #expect(made.folder.documents.map(\.number) == Array(0..<1_000))
        #expect(made.new.modelContext == nil && made.last.modelContext == nil && made.old.folder === made.folder)
        #expect(!made.context.hasChanges)
        made.folder.documents.append(Document("x", number: 1_000))
        made.context.refresh(made.folder, mergeChanges: true)
        #expect(made.folder.documents.map(\.number) == Array(0..<1_001))
    }

    @Test("C1: a change in place is seen in no context")
    func changesInPlaceAreSeenInNoContext() throws {
        let folder = Folder("f")
        folder.documents = (0..<1_000).map { Document("\($0)", number: $0) }
        let old = folder.documents[3]
        let (new, last) = (Document("new", number: 10_000), Document("last", number: 10_001))
        exchange(&folder.documents, new, last)
        #expect(last.folder === folder)
        #expect(old.folder == nil && new.folder === folder)
        #expect(folder.documents.map(\.number) == [0, 1, 2, 10_000] + Array(4..<1_000) + [10_001])
        exchange(&folder.documents, old, Document("x", number: 10_002))
        let store = try TestStore(Folder.self)
        let context = store.context()
        context.insert(folder)
        #expect(folder.documents.map(\.number) == Array(0..<1_000) + [10_001, 10_002])
        #expect(new.folder == nil)
        try context.save()
        #expect(try store.reopened().first(Folder.self).documents.count == 1_002)
    }

    @Test("C1: members and inverses can be read while a change in place runs, and one that throws counts")
    func readingWithinAChange() throws {
        struct Stop: Error {}
        func change(_ members: inout [Document], _ new: Document, _ look: () -> Void) throws {
            members.removeAll { $0.number % 2 == 1 }
            members.append(new)
            look()
            throw Stop()
        }
        let store = try TestStore(Folder.self)
        let context = store.context()
        for isInserted in [true, false] {
            let folder = Folder("f")
            if isInserted { context.insert(folder) }
            folder.documents = (0..<10).map { Document("\($0)", number: $0) }
            let odd = folder.documents[1]
            let new = Document("new", number: 10)
            #expect(throws: Stop.self) {
                try change(&folder.documents, new) {
                    #expect(folder.documents.map(\.number) == Array(0..<10))
                    #expect(odd.folder === folder && new.folder == nil)
                    #expect(folder.relationship(\.documents).count == 10)
                }
            }
            #expect(folder.documents.map(\.number) == [0, 2, 4, 6, 8, 10])
            #expect(odd.folder == nil && new.folder === folder)
            folder.documents.removeAll { $0.folder !== folder || $0.number == 10 }
            #expect(folder.documents.map(\.number) == [0, 2, 4, 6, 8])
            // Saves or rolls back within the change.
            folder.documents.removeAll { document in
                if isInserted, document.number == 0 { #expect(throws: Never.self) { try context.save() } }
                return document.number == 4
            }
            #expect(folder.documents.map(\.number) == [0, 2, 6, 8])
            #expect(folder.documents.popLast()?.number == 8)
            folder.documents += [Document("9", number: 9), Document("10", number: 10)]
            folder.documents.swapAt(0, 1)
            #expect(folder.documents.map(\.number) == [2, 0, 6, 9, 10])
        }
    }

    @Test("C1: an append tells those who watch the collection and its inverse")
    func appendsAreObserved() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        let document = Document("d")
        func changes(_ read: () -> Void, _ change: () -> Void) -> Bool {
            let flag = Flag()
            withObservationTracking(read) { flag.isSet = true }
            change()
            return flag.isSet
        }
        #expect(changes({ _ = folder.documents }, { folder.documents.append(Document("a")) }))
        #expect(changes({ _ = document.folder }, { folder.documents.append(document) }))
        context.insert(folder)
        let next = Document("e")
        context.insert(next)
        #expect(changes({ _ = folder.documents }, { folder.documents.append(Document("b")) }))
        #expect(changes({ _ = next.folder }, { folder.documents.append(next) }))
        #expect(!changes({ _ = folder.documents }, { folder.documents.removeAll { _ in false } }))
    }

    // Safe because only the thread of the test changes it.
    // Safe because one thread uses it.
    private final class Flag: @unchecked Sendable {
        var isSet = false
    }

    @Test("C1: optional collections, and objects of another context")
    func optionalCollections() throws {
        let store = try TestStore(Company.self)
        let context = store.context()
        let company = Company("c")
        context.insert(company)
        company.visitors?.append(Visitor("a"))
        company.visitors?.append(Visitor("b"))
        #expect(company.visitors?.map(\.name) == ["a", "b"])
        #expect(company.visitors?.allSatisfy { $0.company === company } == true)
        try context.save()
        let other = store.context()
        let foreign = try other.first(Company.self)
        company.workers.append(Worker("w"))
        let visitor = try #require(company.visitors?.first)
        foreign.visitors?.append(visitor)
        #expect(throws: SwiftDataError.self) { try other.save() }
        #expect(foreign.visitors?.count == 2)
        try context.save()
        #expect(try store.reopened().first(Company.self).workers.count == 1)
    }

    @Test("C1: two contexts append to one collection")
    func appendsOfTwoContexts() throws {
        let store = try TestStore(Folder.self)
        let (one, two) = (store.context(), store.context())
        one.insert(Folder("f"))
        try one.save()
        let (first, second) = (try one.first(Folder.self), try two.first(Folder.self))
        first.documents.append(Document("1"))
        second.documents.append(Document("2"))
        try one.save()
        try two.save()
        #expect(Set(second.documents.map(\.title)) == ["1", "2"])
        #expect(Set(try store.reopened().first(Folder.self).documents.map(\.title)) == ["1", "2"])
    }

    @Test("C1: kept arrays let go of their members with the context")
    func keptArraysGoWithTheContext() throws {
        let store = try TestStore(Folder.self, place: .memory)
        weak var document: Document?
        do {
            let context = store.context()
            let folder = Folder("f")
            context.insert(folder)
            folder.documents.append(Document("a"))
            try context.save()
            folder.documents.append(Document("b"))
            document = folder.documents.last
            #expect(folder.documents.count == 2 && folder.documents.count == 2)
        }
        #expect(document == nil)
    }
}
