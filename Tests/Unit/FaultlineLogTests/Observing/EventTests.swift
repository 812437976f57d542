import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Synchronization
import Testing

/// Tests the events for an observer, and the cost without one.
struct EventTests {
    private let time = CountedClock()

    private func open(
        _ store: Store, _ observer: EventRecorder?, _ options: LogOptions = Store.options, on disk: Disk? = nil
    ) throws -> Log {
        var options = options
        options.observer = observer
        return try Log.open(
            Store.path, on: disk ?? store.disk, clock: time.clock, options: options, deriver: WholeRowDeriver())
    }

    @Test func `tells of a life from opening to closing, in order`() throws {
        let store = Store()
        let recorder = EventRecorder()
        let log = try open(store, recorder)
        try log.insert((1...10).map { row($0) })
        try log.checkpoint()
        try log.insert([row(11)])
        try log.close()
        #expect(recorder.names == ["opened", "checkpointMade", "checkpointMade", "closed"])
        guard case .opened(let report, let openNanoseconds)? = recorder.events.first,
            case .checkpointMade(let sequence, let byteCount, let nanoseconds) = recorder.events[1]
        else {
            Issue.record("\(recorder.events)")
            return
        }
        #expect(report.wasCreated && openNanoseconds >= 1_000)
        #expect(sequence == 1 && byteCount >= 2 * 4_096 && nanoseconds >= 1_000)
    }

    @Test func `tells what recovery found`() throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1)])
        try log.insert([row(2)])
        log.abandonForTests()
        let recorder = EventRecorder()
        try open(store.killed, recorder).close()
        guard case .opened(let report, _)? = recorder.events.first else {
            Issue.record("\(recorder.events)")
            return
        }
        #expect(!report.wasClean && report.replayedTransactionCount == 2)
    }

    @Test func `tells of merges and of a compaction with its figures`() throws {
        let store = Store()
        let recorder = EventRecorder()
        var options = Store.options
        options.segmentByteCount = 4_000
        let log = try open(store, recorder, options)
        for number in 1...40 { try log.insert([row(number, byteCount: 100)]) }
        for number in 1...36 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(100 + number, byteCount: 100)) }
            if number % 6 == 0 { try log.checkpoint() }
        }
        for number in 1...10 { try log.insert([row(200 + number, byteCount: 900)], in: plainTable) }
        try log.checkpoint()
        let report = try log.compact()
        try log.close()
        let names = recorder.names
        #expect(names.contains("runsMerged"))
        let began = try #require(names.firstIndex(of: "compactionBegan"))
        let ended = try #require(names.firstIndex(of: "compactionEnded"))
        let dropped = names.indices.filter { names[$0] == "segmentDropped" }
        #expect(began < ended && !dropped.isEmpty && dropped.allSatisfy { began < $0 && $0 < ended })
        #expect(names.count { $0 == "compactionBegan" } == names.count { $0 == "compactionEnded" })
        var sums: (segments: Int, moved: UInt64, dropped: UInt64, predicted: UInt64) = (0, 0, 0, 0)
        for event in recorder.events {
            switch event {
            case .compactionBegan(let predicted): sums.predicted += predicted
            case .compactionEnded(let segments, let moved, let dropped, let nanoseconds):
                sums.segments += segments
                sums.moved += moved
                sums.dropped += dropped
                #expect(nanoseconds >= 1_000)
            case .runsMerged(let count, let byteCount, _): #expect(count > 1 && byteCount > 64)
            default: break
            }
        }
        #expect(sums.segments == report.segmentCount && sums.segments == dropped.count)
        #expect(sums.moved == report.movedByteCount && sums.dropped == report.droppedByteCount)
        #expect(sums.predicted == report.predictedByteCount)
    }

    @Test func `tells of each place of rot once, and health names it`() throws {
        let store = Store()
        let recorder = EventRecorder()
        let log = try open(store, recorder)
        try log.insert((1...10).map { row($0, byteCount: 24) })
        let path = try #require(store.files(.hotSegment).first)
        let bytes = try store.disk.contents(path)
        for number in [3, 7] {
            let place = try #require(bytes.firstRange(of: row(number, byteCount: 24))?.lowerBound)
            try store.disk.overwrite(path, at: place + 9, [0xFF])
        }
        for _ in 0..<5 {
            #expect(throws: LogError.self) { try log.snapshot().row(3) }
            #expect(throws: LogError.self) { try log.snapshot().row(7) }
        }
        #expect(log.health.rotCount == 2)
        #expect(log.health.rotPlaces.allSatisfy { $0.path == path && $0.offset ?? 0 > 64 })
        #expect(log.health.rotPlaces.first?.message.contains("object 3") == true)
        #expect(log.health.failure == nil)
        log.abandonForTests()
        try log.close()
        #expect(recorder.names == ["opened", "rotMet", "rotMet"])
    }

    @Test func `tells of a full disk once, and that there is space again`() throws {
        let store = Store()
        let recorder = EventRecorder()
        let log = try open(store, recorder)
        try log.insert([row(1)])
        let capacity = store.disk.byteCapacity
        store.disk.byteCapacity = capacity - Int(try store.disk.freeByteCount(in: "/d"))
        for _ in 0..<3 {
            #expect(throws: LogError.self) { try log.insert((1...2_000).map { row($0, byteCount: 1_000) }) }
        }
        #expect(log.health.fullDisk?.code == .fullDisk)
        // A write into reserved space proves no free space.
        try log.insert([row(2)])
        #expect(log.health.fullDisk?.code == .fullDisk)
        store.disk.byteCapacity = capacity
        try log.insert([row(3)])
        #expect(log.health.fullDisk == nil)
        try log.close()
        #expect(recorder.names == ["opened", "diskFull", "spaceCameBack", "checkpointMade", "closed"])
    }

    @Test func `tells that it is poisoned, once`() throws {
        let store = Store()
        let recorder = EventRecorder()
        let disk = FailingDisk(over: store.disk)
        let log = try open(store, recorder, on: disk)
        try log.insert([row(1)])
        disk.arm(DiskFault(ordinal: 0, errorNumber: EIO, isSticky: true, effect: .none))
        for _ in 0..<3 { #expect(throws: LogError.self) { try log.insert([row(2)]) } }
        disk.disarm()
        #expect(log.health.failure != nil)
        #expect(!log.health.isClosed)
        try log.close()
        #expect(recorder.names.filter { $0 == "poisoned" }.count == 1)
    }

    @Test func `times commits and syncs where it is asked to`() throws {
        let store = Store()
        let recorder = EventRecorder(timesCommits: true)
        let log = try open(store, recorder)
        for number in 1...5 { try log.insert([row(number)]) }
        // Nothing is written, so nothing is timed.
        _ = try log.write(author: nil) { _ in }
        #expect(recorder.commits.count == 5)
        #expect(recorder.syncs.count == 5)
        #expect(recorder.commits.allSatisfy { $0 == 3_000 })
        #expect(recorder.syncs.allSatisfy { $0 == 1_000 })
        #expect(log.figures.commitCount == 5)
        #expect(log.figures.writtenByteCount > 5 * 64)
        try log.close()
    }

    @Test func `without an observer no clock is read and no event is made`() throws {
        let store = Store()
        var options = Store.options
        options.segmentByteCount = 4_000
        let log = try open(store, nil, options)
        for number in 1...40 { try log.insert([row(number, byteCount: 100)]) }
        for number in 1...36 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(100 + number, byteCount: 100)) }
        }
        try log.checkpoint()
        try log.compact()
        _ = try log.snapshot().row(1)
        _ = try log.findings()
        try log.close()
        #expect(time.readCount == 0)

        var madeCount = 0
        func made() -> LogEvent {
            madeCount += 1
            return .closed
        }
        StoreWatch().note(made())
        #expect(madeCount == 0)
    }

    /// Events alone, without times of commits, cost a commit nothing either.
    @Test func `commits read no clock for events alone`() throws {
        let log = try open(Store(), EventRecorder())
        let begin = time.readCount
        for number in 1...20 { try log.insert([row(number)]) }
        _ = try log.snapshot().row(1)
        #expect(time.readCount == begin)
        try log.close()
    }

    @Test func `an observer may use the log, and close it`() throws {
        let store = Store()
        let shared = Guarded<Log?>(nil)
        let recorder = EventRecorder { event in
            guard let log = shared.withLock({ $0 }) else { return }
            if case .rotMet = event {
                _ = try? log.insert([row(99)])
                try? log.checkpoint()
                try? log.close()
            }
        }
        let log = try open(store, recorder)
        shared.withLock { $0 = log }
        try log.insert([row(1, byteCount: 24)])
        let path = try #require(store.files(.hotSegment).first)
        let place = try #require(try store.disk.contents(path).firstRange(of: row(1, byteCount: 24))?.lowerBound)
        try store.disk.overwrite(path, at: place + 9, [0xFF])
        #expect(throws: LogError.self) { try log.snapshot().row(1) }
        try log.close()
        #expect(recorder.names.suffix(1) == ["closed"])
        #expect(log.health.isClosed)
    }

    @Test func `a slow observer loses events and is told how many`() throws {
        let gate = Guarded(())
        let recorder = EventRecorder { _ in gate.withLock { _ in } }
        let watch = StoreWatch()
        watch.tell(recorder, clock: time.clock)
        gate.withLock { _ in
            for _ in 0..<3_000 { watch.note(.closed) }
        }
        watch.drain()
        var lostCount = 0
        var toldCount = 0
        for event in recorder.events {
            if case .eventsLost(let count) = event { lostCount += count } else { toldCount += 1 }
        }
        #expect(toldCount + lostCount == 3_000)
        #expect(lostCount > 0 && toldCount >= 1_024)
    }
}
