import Faultline
import FaultlineTestSupport
import Testing

/// Access to a to-many relationship's members one at a time, besides the property that contains all of them.
@Suite struct ToManyRelationshipTests {
    @Test func membersComeAndGoOneByOne() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        let documents = (0..<5).map { Document("\($0)") }
        // Outside any context.
        let detached = folder.relationship(\.documents)
        #expect(detached.isEmpty && detached.count == 0)
        #expect(detached.insert(documents[0]) && !detached.insert(documents[0]))
        #expect(documents[0].folder === folder && detached.contains(documents[0]))
        #expect(detached.insert(documents[1]) && detached.remove(documents[1]) && !detached.remove(documents[1]))
        context.insert(folder)
        // Before the first save.
        let members = folder.relationship(\.documents)
        #expect(members.map(\.title) == ["0"])
        #expect(members.insert(documents[1]) && members.insert(documents[2]))
        #expect(documents[2].modelContext === context && documents[2].folder === folder)
        try context.save()
        // With stored and unsaved members.
        #expect(!members.insert(documents[1]) && members.insert(documents[3]))
        #expect(members.remove(documents[0]) && !members.contains(documents[0]) && documents[0].folder == nil)
        #expect(!members.contains(documents[4]) && !members.remove(documents[4]))
        #expect(members.map(\.title) == ["1", "2", "3"] && folder.documents.map(\.title) == ["1", "2", "3"])
        #expect(members.count == 3 && !members.isEmpty)
        context.delete(documents[2])
        #expect(members.count == 2 && members.map(\.title) == ["1", "3"] && !members.contains(documents[2]))
        // Removed from the array's order, and back at the end.
        folder.documents = [documents[3], documents[1]]
        #expect(members.map(\.title) == ["3", "1"])
        #expect(members.remove(documents[3]) && members.insert(documents[3]))
        #expect(members.map(\.title) == ["1", "3"])
        try context.save()
        let again = try store.reopened()
        let read = try again.first(Folder.self)
        #expect(read.relationship(\.documents).map(\.title) == ["1", "3"])
        // Takes a member from another owner.
        let other = Folder("g")
        again.insert(other)
        let moved = try #require(read.documents.first)
        #expect(other.relationship(\.documents).insert(moved))
        #expect(read.relationship(\.documents).map(\.title) == ["3"] && moved.folder === other)
    }

    @Test func linksComeAndGoOneByOne() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let labels = (0..<300).map { Label("\($0)") }
        let documents = (0..<3).map { Document("\($0)") }
        documents.forEach(context.insert)
        labels.forEach(context.insert)
        documents[0].labels = labels
        documents[1].labels = [labels[7]]
        try context.save()
        let many = documents[0].relationship(\.labels)
        let few = documents[1].relationship(\.labels)
        #expect(many.contains(labels[299]) && many.contains(labels[7]) && !few.contains(labels[8]))
        #expect(!many.insert(labels[3]) && few.insert(labels[3]) && few.remove(labels[7]))
        #expect(few.contains(labels[3]) && !few.contains(labels[7]) && !few.remove(labels[7]))
        #expect(labels[3].documents.map(\.title) == ["0", "1"])
        #expect(labels[7].relationship(\.documents).map(\.title) == ["0"])
        #expect(few.map(\.text) == ["3"] && few.count == 1 && many.count == 300)
        context.delete(labels[0])
        #expect(many.count == 299 && !many.contains(labels[0]))
        try context.save()
        let again = try store.reopened()
        let read = try again.all(Document.self, sortBy: [SortDescriptor(\.title)])
        #expect(read.map { $0.relationship(\.labels).count } == [299, 1, 0])
        #expect(read[0].relationship(\.labels).map(\.text) == (1..<300).map { "\($0)" })
        #expect(read[1].relationship(\.labels).map(\.text) == ["3"])
    }

    /// Counts the index entries that insertions, their save, and a page walk.
    @Test func insertingLooksAtNoOtherMember() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        let members = folder.relationship(\.documents)
        for number in 0..<5_000 { members.insert(Document("\(number)")) }
        try context.save()
        #expect(context.core.reports.walked.indexEntries == 0)
        for number in 5_000..<10_000 { members.insert(Document("\(number)")) }
        let first = try #require(members.first { _ in true })
        #expect(members.contains(first))
        try context.save()
        #expect(context.core.reports.walked.indexEntries == 256)
        #expect(members.count == 10_000)
    }

    @Test func aWalkGoesOnWhileMembersComeAndGo() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        folder.documents = (0..<1_000).map { Document("\($0)", number: $0) }
        try context.save()
        let members = folder.relationship(\.documents)
        var met: [Int] = []
        for document in members {
            met.append(document.number)
            if document.number % 3 == 0 { members.remove(document) }
            if document.number == 500 { try context.save() }
        }
        #expect(met == Array(0..<1_000))
        try context.save()
        #expect(try store.reopened().first(Folder.self).documents.map(\.number) == (0..<1_000).filter { $0 % 3 != 0 })
    }

    @Test func namesLeadToMembersToo() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let reports = context.reports()
        let sales = try context.make("Department", ["name": "Sales"])
        let people = try #require(sales.relationship(forKey: "people"))
        people.insert(try context.make("Person", ["name": "Ada"]))
        #expect(people.map { $0["name"] as? String } == ["Ada"])
        #expect(reports.all.isEmpty)
        #expect(sales.relationship(forKey: "persons") == nil && sales.relationship(forKey: "name") == nil)
        #expect(reports.all.count == 2)
    }

    @Test(arguments: Seed.list(8)) func theyAgreeWithArrays(seed: Seed) throws {
        var random = seed
        let store = try TestStore(Folder.self)
        var context = store.context()
        var wanted: [String] = []
        context.insert(Folder("f"))
        for number in 0..<40 { context.insert(Document("\(number)")) }
        try context.save()
        for step in 0..<200 {
            let folder = try context.first(Folder.self)
            let members = folder.relationship(\.documents)
            let name = "\(random.below(40))"
            let document = try #require(
                try context.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.title == name })).first)
            switch random.below(8) {
            case 0...3:
                #expect(members.insert(document) == !wanted.contains(name), "\(step) \(seed.replayLine)")
                if !wanted.contains(name) { wanted.append(name) }
            case 4:
                #expect(members.remove(document) == wanted.contains(name), "\(step) \(seed.replayLine)")
                wanted.removeAll { $0 == name }
            case 5: try context.save()
            case 6:
                folder.documents.reverse()
                wanted.reverse()
            default:
                try context.save()
                if random.oneIn(4) { context = try store.reopened() }
            }
            let now = try context.first(Folder.self)
            #expect(now.relationship(\.documents).map(\.title) == wanted, "\(step) \(seed.replayLine)")
            #expect(now.documents.map(\.title) == wanted, "\(step) \(seed.replayLine)")
            #expect(now.relationship(\.documents).count == wanted.count, "\(step) \(seed.replayLine)")
        }
    }
}
