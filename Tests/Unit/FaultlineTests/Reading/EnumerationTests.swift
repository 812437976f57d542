import Faultline
import FaultlineTestSupport
import Testing

/// A2: a walk yields each object as the context shows it at that moment.
@Suite struct EnumerationTests {
    private func documents(_ count: Int) throws -> TestStore {
        let store = try TestStore(Folder.self)
        let context = store.context()
        for number in 0..<count { context.insert(Document("d\(number)", number: number)) }
        try context.save()
        return store
    }

    private func document(_ number: Int, in context: ModelContext) throws -> Document {
        try #require(
            try context.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.number == number })).first)
    }

    @Test("A2: objects made after a block saved show the newest values")
    func newestValues() throws {
        let store = try documents(1_200)
        let context = try store.reopened()
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Document>())
        var place = 0
        try context.enumerate(FetchDescriptor<Document>()) { document in
            if place % 100 == 0, place + 500 < identifiers.count {
                let later = try #require(context.model(for: identifiers[place + 500]) as? Document)
                later.title = "changed \(place)"
                try context.save()
            }
            if place >= 500, place % 100 == 0 {
                #expect(document.title == "changed \(place - 500)")
                document.title += "!"
                try context.save()
            }
            place += 1
        }
        #expect(place == 1_200)
        let stored = try store.reopened().all(Document.self)
        #expect(stored[700].title == "changed 200!")
    }

    @Test("A2: objects that a block deleted are not given")
    func deletedObjects() throws {
        let store = try documents(1_000)
        for sort in [[], [SortDescriptor(\Document.number)]] {
            let context = store.context()
            var seen: [Int] = []
            let first = try context.fetchIdentifiers(FetchDescriptor<Document>())
            try context.enumerate(FetchDescriptor<Document>(sortBy: sort)) { document in
                seen.append(document.number)
                #expect(!document.isDeleted)
                guard seen.count == 10 else { return }
                for place in [12, 300, 600] {
                    context.delete(try #require(context.model(for: first[place]) as? Document))
                }
                try context.save()
            }
            #expect(seen.count == first.count - 3)
            let left = try context.fetchCount(FetchDescriptor<Document>())
            #expect(left == first.count - 3)
        }
    }

    @Test("A2: what others saved shows in a walk once its context has moved on")
    func othersChanges() throws {
        let store = try documents(1_000)
        let (context, other) = (store.context(), store.context())
        var seen = 0
        var titles: [Int: String] = [:]
        try context.enumerate(FetchDescriptor<Document>()) { document in
            if seen == 20 {
                for place in [22, 700] { try self.document(place, in: other).title = "theirs" }
                try other.delete(self.document(23, in: other))
                try other.delete(self.document(800, in: other))
                try other.save()
                document.title = "mine"
                try context.save()
            }
            titles[document.number] = document.title
            seen += 1
        }
        #expect(titles[20] == "mine")
        #expect(titles[22] == "theirs" && titles[700] == "theirs")
        #expect(titles[23] == nil && titles[800] == nil && titles.count == 998)
    }

    @Test("A2: a walk that may leave changes unsaved shows them")
    func unsavedChanges() throws {
        let store = try documents(1_000)
        let context = store.context()
        let all = try context.all(Document.self)
        var seen: [Int] = []
        let descriptor = FetchDescriptor<Document>(predicate: #Predicate { $0.number < 2_000 })
        try context.enumerate(descriptor, batchSize: 50, allowEscapingMutations: true) { document in
            if seen.isEmpty {
                all[500].number = 5_000
                context.delete(all[600])
                all[700].title = "unsaved"
            }
            if document.number == 700 { #expect(document.title == "unsaved" && document === all[700]) }
            seen.append(document.number)
        }
        #expect(seen.count == 998 && !seen.contains(500) && !seen.contains(600))
    }

    @Test("A2: objects that a block adds do not prolong the walk")
    func addedObjects() throws {
        let store = try documents(300)
        let context = store.context()
        var count = 0
        try context.enumerate(FetchDescriptor<Document>()) { document in
            count += 1
            context.insert(Document("new", number: -1))
            try context.save()
        }
        #expect(count == 300)
        #expect(try context.fetchCount(FetchDescriptor<Document>()) == 600)
    }

    @Test("A2: a window counts the objects that are given")
    func window() throws {
        let store = try documents(900)
        let context = store.context()
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Document>())
        var descriptor = FetchDescriptor<Document>()
        descriptor.fetchOffset = 100
        descriptor.fetchLimit = 400
        var seen: [Int] = []
        try context.enumerate(descriptor) { document in
            seen.append(document.number)
            guard seen.count == 1 else { return }
            for place in 200..<210 { context.delete(try #require(context.model(for: identifiers[place]) as? Document)) }
            try context.save()
        }
        #expect(seen.count == 400 && seen.first == 100 && seen.last == 509)
    }

    @Test("A2: batches and pages show the state of the context")
    func batchesAndPages() throws {
        let store = try documents(400)
        let context = store.context()
        let found = try context.fetch(FetchDescriptor<Document>(), batchSize: 100)
        #expect(found[0].number == 0)
        try document(250, in: context).title = "changed"
        context.delete(try document(251, in: context))
        try context.save()
        #expect(found[250].title == "changed")
        #expect(found[251].isDeleted)
        let page = try context.fetchPage(FetchDescriptor<Document>(), size: 300)
        #expect(page.objects[250] === found[250] && page.objects[251].number == 252)
    }
}
