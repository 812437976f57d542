import Faultline
import Testing

/// Fetches without unsaved changes, and orders by values that are stored outside the row.
@Suite struct StoredValuesTests {
    /// Three folders, all of them with unsaved changes.
    private func changed() throws -> (TestStore, ModelContext) {
        let store = try TestStore(Folder.self)
        let context = store.context()
        for name in ["a", "b", "c"] {
            let folder = Folder(name)
            folder.documents = [Document("\(name)1"), Document("\(name)2")]
            context.insert(folder)
        }
        try context.save()
        for (place, folder) in try context.all(Folder.self).enumerated() {
            folder.name = ["z", "y", "x"][place]
            folder.documents[0].title = "changed"
            folder.documents[1].folder = nil
        }
        context.insert(Folder("new"))
        return (store, context)
    }

    private func stored<T>(
        _ predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []
    ) -> FetchDescriptor<T> {
        var descriptor = FetchDescriptor<T>(predicate: predicate, sortBy: sortBy)
        descriptor.includePendingChanges = false
        return descriptor
    }

    @Test func aPredicateThatObjectsDecideSeesStoredValues() throws {
        let (_, context) = try changed()
        let folders = try context.all(Folder.self)
        // A form that cannot be evaluated on the stored bytes; a related object; members.
        let own = stored(#Predicate<Folder> { ($0.name == "b") == true })
        #expect(try context.fetch(own) == [folders[1]])
        #expect(try context.fetchCount(own) == 1)
        #expect(try context.fetchIdentifiers(own) == [folders[1].persistentModelID])
        var walked: [Folder] = []
        try context.enumerate(own, allowEscapingMutations: true) { walked.append($0) }
        #expect(walked == [folders[1]])
        #expect(try context.fetch(own).first === folders[1])
        let related = stored(#Predicate<Document> { $0.folder?.name == "c" })
        #expect(try context.fetchCount(related) == 2)
        let members = stored(#Predicate<Folder> { $0.documents.contains { $0.title == "c1" } })
        #expect(try context.fetch(members) == [folders[2]])
        let unsaved = stored(#Predicate<Folder> { ($0.name == "new") == true || ($0.name == "z") == true })
        #expect(try context.fetchCount(unsaved) == 0)
        // With unsaved changes, the result is the reverse.
        let now = FetchDescriptor(predicate: #Predicate<Folder> { ($0.name == "y") == true })
        #expect(try context.fetch(now) == [folders[1]])
    }

    @Test func aDeletedObjectIsStillStored() throws {
        let (_, context) = try changed()
        let folder = try context.all(Folder.self)[0]
        context.delete(folder)
        #expect(try context.fetch(stored(#Predicate<Folder> { ($0.name == "a") == true })) == [folder])
    }

    @Test func anOrderThatObjectsDecideIsThatOfStoredValues() throws {
        let (_, context) = try changed()
        let byFolder = stored(
            nil, sortBy: [SortDescriptor(\Document.folder?.name, order: .reverse), SortDescriptor(\Document.title)])
        let identifiers = try context.fetch(byFolder).map(\.persistentModelID)
        let clean = try ModelContext(context.container).fetch(byFolder)
        #expect(clean.map(\.title) == ["c1", "c2", "b1", "b2", "a1", "a2"])
        #expect(identifiers == clean.map(\.persistentModelID))
        var limited = byFolder
        limited.fetchOffset = 1
        limited.fetchLimit = 2
        #expect(try context.fetch(limited).map(\.persistentModelID) == Array(identifiers.dropFirst().prefix(2)))
        #expect(try context.fetchCount(limited) == 2)
    }

    @Test func textOutOfTheRowIsInOrder() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        // Values around the size from which they are stored outside the row. Some differ only after that, and one is
        // not in normalization form C.
        var titles: [String] = []
        for byteCount in [0, 1, 4_095, 4_096, 5_000, 20_000, 70_000] {
            let text = String(repeating: "m", count: byteCount)
            titles += [text + "a", text + "b", text]
        }
        titles += [String(repeating: "e\u{301}", count: 3_000), String(repeating: "\u{E9}", count: 3_000) + "x"]
        titles += [String(repeating: "e", count: 9_000), "zz", "\u{0}" + String(repeating: "\u{0}", count: 6_000)]
        titles.shuffle()
        for (number, title) in titles.enumerated() { context.insert(Document(title, number: number)) }
        try context.save()
        let again = try store.reopened()
        // Some are not saved.
        for title in ["mmm", String(repeating: "m", count: 5_000) + "aa"] {
            again.insert(Document(title))
            titles.append(title)
        }
        let changed = try again.first(Document.self)
        titles.removeAll { $0 == changed.title }
        changed.title = String(repeating: "n", count: 6_000)
        titles.append(changed.title)
        for order in [SortOrder.forward, .reverse] {
            let descriptor = FetchDescriptor<Document>(
                sortBy: [SortDescriptor(\.title, comparator: .lexical, order: order), SortDescriptor(\.number)])
            // Sorts by normalization form C: `<` of Swift 6.3 puts decomposed text after longer text that begins with
            // it.
            let rising = titles.sorted { $0._nfcCodeUnits.lexicographicallyPrecedes($1._nfcCodeUnits) }
            let sorted = order == .forward ? rising : rising.reversed()
            #expect(try again.fetch(descriptor).map(\.title).elementsEqual(sorted, by: ==))
            var window = descriptor
            window.fetchOffset = 3
            window.fetchLimit = 7
            #expect(try again.fetch(window).map(\.title) == Array(sorted[3..<10]))
        }
    }

    @Test func aContainerCountsWhatItsContextsRead() throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        for number in 0..<50 {
            let photo = Photo("\(number)")
            photo.large = Data(count: 5_000)
            context.insert(photo)
        }
        try context.save()
        try store.reopen()
        var sum = FaultCounters()
        for round in 0..<3 {
            let reader = store.context()
            let photos = try reader.all(Photo.self)
            for photo in photos.prefix(10 * (round + 1)) { _ = photo.name }
            #expect(photos[0].large.count == 5_000)
            #expect(reader.counters.faultsFired > 0)
            sum = sum + reader.counters
        }
        // The contexts no longer exist.
        let living = store.context()
        _ = try living.fetchCount(FetchDescriptor<Photo>(predicate: #Predicate { $0.name == "7" }))
        sum = sum + living.counters
        let all = store.container.counters
        #expect(all.rowsRead == sum.rowsRead)
        #expect(all.faultsFired == sum.faultsFired)
        #expect(all.blobBytesRead == 15_000)
        #expect(all.rowsRead >= 110)
        #expect(all.cacheBytes > 0)
    }
}
