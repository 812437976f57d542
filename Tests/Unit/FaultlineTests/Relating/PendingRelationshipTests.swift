import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// The cost of unsaved relationship changes, the order in which they are written, and their state after a failed save.
@Suite struct PendingRelationshipTests {
    @Test func aFailedSaveLeavesNoPlaceInACollectionBehind() throws {
        let store = try TestStore(Folder.self, User.self)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        let documents = (0..<6).map { Document("\($0)", number: $0) }
        documents.forEach(context.insert)
        documents[5].folder = folder
        let users = [User("a"), User("b")]
        users.forEach(context.insert)
        try context.save()
        // It joins after one with a larger number, so it needs its own key. The save fails.
        documents[1].folder = folder
        users[1].email = "a"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(folder.documents.map(\.number) == [5, 1])
        // Without that one, a key left from the failed save would put document 1 after those that join now.
        let other = store.context()
        let last = try #require(other.model(for: documents[5].persistentModelID) as? Document)
        last.folder = nil
        try other.save()
        documents[3].folder = folder
        users[1].email = "b"
        try context.save()
        #expect(folder.documents.map(\.number) == [1, 3])
        #expect(try store.reopened().first(Folder.self).documents.map(\.number) == [1, 3])
    }

    @Test func aFailedSaveChangesNoOtherObject() throws {
        let store = try TestStore(Folder.self, User.self)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        folder.documents = (0..<5).map { Document("\($0)", number: $0) }
        let users = [User("a"), User("b")]
        users.forEach(context.insert)
        try context.save()
        folder.documents.reverse()
        users[1].email = "a"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(context.changedModelsArray.count == 1)
        #expect(folder.documents.allSatisfy { !$0.hasChanges })
        #expect(folder.documents.map(\.number) == [4, 3, 2, 1, 0])
        users[1].email = "b"
        try context.save()
        #expect(try store.reopened().first(Folder.self).documents.map(\.number) == [4, 3, 2, 1, 0])
    }

    @Test func theSameOperationsGiveTheSameBytes() throws {
        func bytes() throws -> [String: [UInt8]] {
            let disk = SimulatedDisk(directories: ["/s"])
            var options = LogOptions()
            options.maintenance = .inline
            options.seed = 1
            let container = try ModelContainer(
                for: [Folder.self, Playlist.self], directory: "/s/store", on: disk,
                clock: Clock { 1_000_000 }, options: options)
            let context = ModelContext(container)
            let folders = (0..<40).map { Folder("\($0)") }
            folders.forEach(context.insert)
            let documents = (0..<200).map { Document("\($0)", number: $0) }
            for (place, document) in documents.enumerated() {
                context.insert(document)
                document.folder = folders[place % 40]
                document.labels = [Label("a\(place)"), Label("b\(place)")]
            }
            let songs = (0..<30).map { Song("\($0)") }
            for number in 0..<20 {
                let list = Playlist("\(number)")
                list.songs = (0..<10).map { songs[($0 * 7 + number) % 30] }
                context.insert(list)
            }
            try context.save()
            // Members join from their side, in an order that requires keys. Collections are reversed, and links removed
            // and added.
            for (place, document) in documents.reversed().enumerated() { document.folder = folders[place * 3 % 40] }
            for folder in folders.prefix(20) { folder.documents.reverse() }
            for list in try context.all(Playlist.self) {
                list.songs.removeFirst(3)
                list.songs.append(songs[0])
            }
            for place in 0..<100 { documents[place].labels = documents[199 - place].labels }
            try context.save()
            // Only positions change: the save itself determines the members to write.
            for folder in folders { folder.documents.reverse() }
            try context.save()
            for place in stride(from: 0, to: 200, by: 3) { context.delete(documents[place]) }
            try context.save()
            try container.close()
            var bytes: [String: [UInt8]] = [:]
            for path in disk.filePaths { bytes[path] = disk.bytes(of: path) }
            return bytes
        }
        let first = try bytes()
        #expect(first.values.contains { $0.count > 10_000 })
        for _ in 0..<3 {
            let again = try bytes()
            #expect(again.keys.sorted() == first.keys.sorted())
            for (path, bytes) in again { #expect(bytes == first[path], "\(path)") }
        }
    }

    /// Counts the index entries that a save of links walks.
    @Test func aSaveOfManyLinksLooksEachOwnerUpOnce() throws {
        let store = try TestStore(Playlist.self, place: .memory)
        let context = store.context()
        let list = Playlist("p")
        context.insert(list)
        let songs = (0..<20_000).map { Song("\($0)") }
        list.songs = songs
        try context.save()
        let walked = context.core.reports.walked.indexEntries
        list.songs = Array(songs[10_000...]) + (0..<10_000).map { Song("new \($0)") }
        try context.save()
        // Once for the old members, once for the stored links, and once for their order.
        #expect(context.core.reports.walked.indexEntries - walked <= 4 * 20_000)
        #expect(list.songs.count == 20_000)
        #expect(list.songs.first?.name == "10000")
        #expect(list.songs.last?.name == "new 9999")
    }

    @Test func membersLeaveALargeCollectionOneByOne() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        let documents = (0..<20_000).map { Document("\($0)", number: $0) }
        folder.documents = documents
        // Each of these once walked all members.
        for document in documents[..<10_000] { document.folder = nil }
        for document in documents[..<5_000] { document.folder = folder }
        for document in documents[15_000...] { context.delete(document) }
        try context.save()
        #expect(folder.documents.map(\.number) == Array(10_000..<15_000) + Array(0..<5_000))
    }
}
