import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineStore
import Observation
import Synchronization
import Testing

/// Contexts that are unused for a while, and whose objects are alive, release their snapshots.
@Suite struct IdleContextTests {
    /// Collects the errors that a context reports to its handler.
    private final class Errors: Sendable {
        private let all = Guarded<[String]>([])
        var count: Int { all.withLock { $0.count } }
        func listen(to context: ModelContext) {
            context.errorHandler = { [self] error in all.withLock { $0.append("\(error)") } }
        }
    }

    private func waitLong(_ ground: ClockedStore) throws {
        for _ in 0..<3 { try ground.wait(seconds: 61) }
    }

    private func findings(_ ground: ClockedStore) throws -> [Finding] {
        var findings: [Finding] = []
        try ground.container.rowStore.log.verify({ findings.append($0) }, progress: { _, _ in })
        return findings
    }

    @Test func `faults fire at the newest state, and rows that objects hold stay until a fetch`() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let errors = Errors()
        errors.listen(to: context)
        let objects = try context.all(Optionals.self)
        #expect(objects[0].string == "version 0" && objects[0].data == ClockedStore.body(0))
        try ground.replaceAll(1)
        let before = ground.fileCount
        #expect(ground.container.pins.map(\.isPinned) == [false])
        try waitLong(ground)
        #expect(ground.container.pins.isEmpty && ground.fileCount < before)

        #expect(objects[50].string == "version 1" && objects[50].data == ClockedStore.body(1))
        #expect(objects[0].string == "version 0" && objects[0].int == 0)
        // The value that the old row refers to is gone, so the row is read again, and all its values have one version.
        #expect(objects[0].data == ClockedStore.body(1))
        #expect(objects[0].string == "version 1" && errors.count == 0)
        #expect(try context.all(Optionals.self).allSatisfy { $0.string == "version 1" })
        objects[0].int = 5
        try context.save()
        #expect(try findings(ground).isEmpty)
        try ground.container.close()
    }

    @Test func `a fetch shows the newest state of all objects, even without a save since the snapshot`()
        throws
    {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let objects = try context.all(Optionals.self)
        #expect(objects[0].string == "version 0" && objects[1].string == "version 0")
        try ground.replaceAll(1)
        try waitLong(ground)
        #expect(objects[50].string == "version 1" && objects[0].string == "version 0")
        #expect(try context.fetchCount(FetchDescriptor<Optionals>()) == 100)
        #expect(objects[0].string == "version 1" && objects[1].string == "version 1")
        try ground.container.close()
    }

    @Test func `unsaved changes keep the state that they were made in`() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let objects = try context.all(Optionals.self)
        objects[0].int = 1_000
        try ground.replaceAll(1)
        try waitLong(ground)
        #expect(ground.container.pins.map(\.isPinned) == [false])
        #expect(objects[0].data == ClockedStore.body(0) && objects[50].string == "version 0")
        try context.save()
        #expect(objects[0].int == 1_000 && objects[0].string == "version 1" && objects[50].string == "version 1")
        // After a save or a rollback, no change is unsaved.
        for isRolledBack in [false, true] {
            _ = try context.fetchCount(FetchDescriptor<Optionals>())
            if isRolledBack {
                context.delete(objects[7])
                context.rollback()
            }
            try ground.replaceAll(2)
            #expect(ground.container.pins.count == 1)
            try waitLong(ground)
            #expect(ground.container.pins.isEmpty)
        }
        try ground.container.close()
    }

    @Test func `an old row can be changed and saved: what others wrote stays`() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let errors = Errors()
        errors.listen(to: context)
        let objects = try context.all(Optionals.self)
        #expect(objects[0].string == "version 0" && objects[1].string == "version 0")
        try ground.replaceAll(1)
        try waitLong(ground)
        #expect(objects[50].string == "version 1")
        objects[0].int = 7
        objects[1].data = Data([1, 2, 3])
        // The draft's unchanged large value was replaced; the changed one is the value that was set.
        #expect(objects[0].data == ClockedStore.body(1) && objects[1].data == Data([1, 2, 3]))
        #expect(errors.count == 0)
        context.delete(objects[2])
        try context.save()
        let others = try ground.context().all(Optionals.self)
        #expect(others.count == 99)
        #expect(others[0].int == 7 && others[0].string == "version 1" && others[0].data == ClockedStore.body(1))
        #expect(others[1].string == "version 1" && others[1].data == Data([1, 2, 3]))
        #expect(objects[2].string == "version 1" && objects[2].data == ClockedStore.body(1))
        #expect(try findings(ground).isEmpty)
        // No blob of replaced or deleted values is left.
        #expect(ground.container.rowStore.log.snapshot().recordCount(of: .blobs) == 98)
        try ground.container.close()
    }

    @Test func `a fault whose row is gone gives stand-ins, and so does a large value of an old row`() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let errors = Errors()
        errors.listen(to: context)
        let objects = try context.all(Optionals.self)
        #expect(objects[0].string == "version 0" && objects[1].string == "version 0")
        let other = ground.context()
        let theirs = try other.all(Optionals.self)
        for place in [0, 50] { other.delete(theirs[place]) }
        theirs[1].data = nil
        try other.save()
        try ground.replaceAll(1)
        try waitLong(ground)
        #expect(ground.container.pins.isEmpty)

        #expect(objects[50].string == nil && objects[50].isDeleted && errors.count == 1)
        #expect(objects[0].string == "version 0" && !objects[0].isDeleted)
        #expect(objects[0].data?.isEmpty != false && objects[0].isDeleted && errors.count == 2)
        #expect(objects[0].string == nil)
        // This one was given a new value.
        let count = errors.count
        #expect(objects[1].data == ClockedStore.body(1) && errors.count == count)
        try context.save()
        try ground.container.close()
    }

    @Test func `a large value that others have set to nil is reported once, and then nil`() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let errors = Errors()
        errors.listen(to: context)
        let objects = try context.all(Optionals.self)
        #expect(objects[0].string == "version 0" && objects[1].string == "version 0")
        try ground.replaceAll(1)
        let other = ground.context()
        for object in try other.all(Optionals.self).prefix(2) { object.data = nil }
        try other.save()
        try waitLong(ground)
        #expect(objects[50].string == "version 1")
        objects[1].int = 8
        for object in objects.prefix(2) {
            let count = errors.count
            #expect(object.data?.isEmpty != false && errors.count == count + 1)
            #expect(object.data == nil && errors.count == count + 1)
        }
        // Neither change fails.
        objects[0].int = 9
        try context.save()
        #expect(try ground.context().all(Optionals.self)[0].int == 9)
        try ground.container.close()
    }

    @Test func `collections are those of the newest state`() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let folder = Folder("f")
        let documents = (0..<4).map { Document("d\($0)") }
        context.insert(folder)
        folder.documents = documents
        try context.save()
        #expect(folder.documents.map(\.title) == ["d0", "d1", "d2", "d3"])
        let other = ground.context()
        let theirs = try other.first(Folder.self)
        other.delete(theirs.documents[1])
        theirs.documents.append(Document("d4"))
        try other.save()
        try ground.replaceAll(1)
        #expect(folder.documents.map(\.title) == ["d0", "d1", "d2", "d3"])
        try waitLong(ground)
        #expect(ground.container.pins.isEmpty)
        #expect(folder.documents.map(\.title) == ["d0", "d2", "d3", "d4"])
        documents[0].folder = nil
        folder.documents.append(Document("d5"))
        try context.save()
        #expect(try ground.context().first(Folder.self).documents.map(\.title) == ["d2", "d3", "d4", "d5"])
        #expect(try findings(ground).isEmpty)
        try ground.container.close()
    }

    @Test func `a walk stays at its state, however long it takes`() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let objects = try context.all(Optionals.self)
        var count = 0
        try context.enumerate(FetchDescriptor<Optionals>(), batchSize: 10) { object in
            count += 1
            if count == 5 {
                try ground.replaceAll(1)
                try waitLong(ground)
            }
            #expect(object.string == "version 0" && object.data == ClockedStore.body(0))
        }
        #expect(count == 100 && objects.count == 100)
        try ground.container.close()
    }

    @Test func `who watches an object hears with the next fetch that it may have changed`() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let objects = try context.all(Optionals.self)
        let count = Guarded(0)
        withObservationTracking {
            _ = objects[0].string
        } onChange: {
            count.withLock { $0 += 1 }
        }
        try ground.replaceAll(1)
        try waitLong(ground)
        #expect(objects[50].string == "version 1" && objects[0].string == "version 0")
        #expect(count.withLock { $0 } == 0)
        _ = try context.fetchCount(FetchDescriptor<Optionals>())
        #expect(count.withLock { $0 } == 1 && objects[0].string == "version 1")
        try ground.container.close()
    }

    @Test func `a pin begins at one state of all objects`() throws {
        let ground = try ClockedStore.filled()
        let context = ground.context()
        let objects = try context.all(Optionals.self)
        #expect(objects[0].string == "version 0")
        try ground.replaceAll(1)
        try waitLong(ground)
        try context.pin("export")
        #expect(objects[0].string == "version 1" && objects[50].string == "version 1")
        try ground.replaceAll(2)
        try waitLong(ground)
        #expect(objects.allSatisfy { $0.string == "version 1" && $0.data == ClockedStore.body(1) })
        context.unpin()
        try ground.container.close()
    }
}
