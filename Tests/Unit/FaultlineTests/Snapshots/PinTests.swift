import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineStore
import FaultlineTestSupport
import Observation
import Synchronization
import Testing

/// Contexts that keep an older state, because they were pinned or are unused.
@Suite struct PinTests {
    @Test func aPinnedContextStaysWhereItIs() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let objects = try context.all(Optionals.self)
        try context.pin("monthly report")
        #expect(context.isPinned)
        for version in 1...3 {
            try ground.replaceAll(version)
            try ground.wait(seconds: 500)
            #expect(try context.all(Optionals.self).allSatisfy { $0.string == "version 0" })
        }
        #expect(objects.allSatisfy { $0.data == ClockedStore.body(0) })
        let use = try #require(ground.container.pins.first)
        #expect(ground.container.pins.count == 1 && use.label == "monthly report" && use.isPinned && !use.isExpired)
        #expect(use.heldByteCount > 500_000 && use.since == Date(timeIntervalSince1970: 1_000))

        objects[0].int = 1_000
        #expect(throws: StorageError.self) { try context.save() }
        context.unpin()
        try context.save()
        #expect(try context.all(Optionals.self).allSatisfy { $0.string == "version 3" })
        #expect(objects[0].int == 1_000 && objects[1].data == ClockedStore.body(3))
        try ground.container.close()
    }

    @Test func aPinThatIsTooOldExpires() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let errors = Guarded<[StorageError.Code]>([])
        context.errorHandler = { error in
            if let error = error as? StorageError { errors.withLock { $0.append(error.code) } }
        }
        let objects = try context.all(Optionals.self)
        #expect(objects[0].string == "version 0")
        try context.pin("export", for: .seconds(600))
        try ground.replaceAll(1)
        let before = ground.fileCount
        try ground.wait(seconds: 599)
        #expect(objects[0].data == ClockedStore.body(0))
        try ground.wait(seconds: 1)
        #expect(ground.fileCount < before)
        #expect(ground.container.pins.map(\.isExpired) == [true])
        let error = #expect(throws: StorageError.self) { try context.all(Optionals.self) }
        #expect(error?.code == .expired)
        // Loaded values are still available; for others, the context returns placeholders.
        #expect(objects[0].string == "version 0")
        #expect(objects[0].data?.isEmpty != false && errors.withLock { $0 } == [.expired])
        #expect(throws: StorageError.self) { try context.pin() }
        context.unpin()
        #expect(objects[0].data == ClockedStore.body(1) && objects[0].string == "version 1")
        try context.save()
        try ground.container.close()
    }

    @Test func whatCannotBeReadInAnExpiredPinIsNotChanged() throws {
        let ground = try ClockedStore.filled()
        let folder = Folder("f")
        let document = Document("d")
        document.folder = folder
        let writer = ground.context()
        writer.insert(document)
        try writer.save()

        let context = ground.context()
        let objects = try context.all(Optionals.self)
        let documents = try context.all(Document.self)
        try context.pin("export", for: .seconds(600))
        try ground.replaceAll(1)
        try ground.wait(seconds: 600)
        // Neither was loaded: a change cannot be based on a placeholder.
        objects[41].int = (objects[41].int ?? 0) + 1
        documents[0].folder = nil
        context.unpin()
        for _ in 0..<2 { #expect(throws: (any Error).self) { try context.save() } }
        context.rollback()
        try context.save()
        #expect(objects[41].int == 41 && documents[0].folder?.name == "f")
        #expect(try ground.context().all(Optionals.self)[41].int == 41)
        try ground.container.close()
    }

    @Test func anIdleContextWithoutObjectsGoesOnAtTheNewestState() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let identifier = try context.first(Optionals.self).persistentModelID
        try ground.replaceAll(1)
        #expect(ground.container.pins.map(\.isPinned) == [false])
        try ground.wait(seconds: 4)
        let before = ground.fileCount
        #expect(ground.container.pins.count == 1)
        try ground.wait(seconds: 5)
        try ground.wait(seconds: 5)
        #expect(ground.fileCount < before && ground.container.pins.isEmpty)
        let object = try #require(context.model(for: identifier) as? Optionals)
        #expect(object.string == "version 1" && object.data == ClockedStore.body(1))
        object.int = 77
        try context.save()
        try ground.container.close()
    }

    @Test func whoWatchesHearsThatAnExpiredPinHasEnded() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let object = try context.first(Optionals.self)
        let count = Guarded(0)
        withObservationTracking {
            _ = object.string
        } onChange: {
            count.withLock { $0 += 1 }
        }
        try context.pin("export", for: .seconds(1))
        try ground.replaceAll(1)
        try ground.wait(seconds: 5)
        #expect(count.withLock { $0 } == 0)
        context.unpin()
        #expect(count.withLock { $0 } == 1 && object.string == "version 1")
        try ground.container.close()
    }
}
