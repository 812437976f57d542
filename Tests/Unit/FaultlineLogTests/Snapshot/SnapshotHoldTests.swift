import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Synchronization
import Testing

/// Snapshots that are held between two uses: their cost is reported, and the log can take them.
struct SnapshotHoldTests {
    /// A store whose content was replaced since a first hold, and a clock.
    private struct Ground {
        let store = Store()
        let log: Log
        private let now: Now
        static let objectCount = 120

        private final class Now: Sendable {
            let nanoseconds = Atomic<Int64>(1_000_000_000_000)
        }

        init(segmentByteCount: Int = 4_000) throws {
            var options = Store.options
            options.segmentByteCount = segmentByteCount
            let now = Now()
            self.now = now
            log = try Log.open(
                Store.path, on: store.disk,
                clock: Clock(
                    wallNanoseconds: { now.nanoseconds.load(ordering: .relaxed) },
                    monotonicNanoseconds: { UInt64(now.nanoseconds.load(ordering: .relaxed)) }),
                options: options, deriver: WholeRowDeriver())
            for number in 1...Self.objectCount { try log.insert([Self.row(number, 0)]) }
        }

        static func row(_ number: Int, _ version: Int) -> [UInt8] {
            FaultlineLogTests.row(version * 1_000 + number, byteCount: 100)
        }

        func wait(seconds: Int64) {
            now.nanoseconds.add(seconds * 1_000_000_000, ordering: .relaxed)
        }

        func replace(_ count: Int = Self.objectCount, version: Int) throws {
            for number in 1...count {
                _ = try log.write(author: nil) { try $0.put(UInt64(number), Self.row(number, version)) }
            }
        }

        /// Begins, checks the content of the hold, and ends.
        ///
        /// - Returns: Whether the snapshot was still there.
        func use(_ hold: SnapshotHold, version: Int) throws -> Bool {
            let isThere = try hold.begin()
            defer { hold.end() }
            if !isThere { hold.put(log.snapshot()) }
            for number in 1...Self.objectCount {
                #expect(try hold.snapshot.row(UInt64(number)) == Self.row(number, version))
            }
            return isThere
        }
    }

    @Test func `an idle snapshot is taken after a minute, and its files go`() throws {
        let ground = try Ground()
        let log = ground.log
        let hold = log.hold("list of employees")
        #expect(log.pins().isEmpty)
        // A store with little dead data: the held bytes stay below a quarter.
        for number in 0..<1_500 { try log.insert([Ground.row(5_000 + number, 0)]) }
        try ground.replace(40, version: 1)
        try ground.replace(40, version: 2)
        let held = try log.compact().heldByteCount
        #expect(held > 0)
        let pin = try #require(log.pins().first)
        #expect(log.pins().count == 1 && pin.label == "list of employees" && !pin.isExplicit && !pin.isExpired)
        #expect(pin.pinnedByteCount == held && pin.sequence == hold.sequence)

        ground.wait(seconds: 59)
        try log.checkpoint()
        let before = segmentCount(ground)
        #expect(log.pins() == [pin])
        ground.wait(seconds: 1)
        try log.checkpoint()
        try log.checkpoint()
        #expect(segmentCount(ground) < before && log.pins().isEmpty)
        #expect(try !hold.begin())
        hold.put(log.snapshot())
        #expect(try hold.snapshot.row(1) == Ground.row(1, 2))
        hold.end()
        log.release(hold)
        try log.close()
    }

    @Test func `one that is used stays unchanged`() throws {
        let ground = try Ground()
        let hold = ground.log.hold("reader")
        for version in 1...4 {
            // Everything that it keeps is dead, which is more than a quarter.
            ground.wait(seconds: 4)
            try ground.replace(version: version)
            try ground.log.compact()
            #expect(try ground.use(hold, version: 0))
        }
        #expect(try hold.begin())
        ground.wait(seconds: 1_000)
        try ground.replace(version: 5)
        try ground.log.compact()
        try ground.log.checkpoint()
        #expect(try ground.use(hold, version: 0))
        hold.end()
        // The first check finds that it was used, the second that it was not.
        try ground.log.checkpoint()
        ground.wait(seconds: 5)
        try ground.log.checkpoint()
        #expect(try !ground.use(hold, version: 5))
        ground.log.release(hold)
        try ground.log.close()
    }

    @Test func `one that is behind is taken though nothing was dropped, for its memory`() throws {
        let ground = try Ground()
        let hold = ground.log.hold("reader")
        let busy = ground.log.hold("reader with objects") { false }
        try ground.log.checkpoint()
        ground.wait(seconds: 100)
        // Nothing is newer yet.
        try ground.log.checkpoint()
        #expect(try hold.begin())
        hold.end()
        try ground.log.insert([Ground.row(7_000, 0)])
        try ground.log.checkpoint()
        ground.wait(seconds: 59)
        try ground.log.checkpoint()
        #expect(hold.sequence < ground.log.snapshot().sequence && ground.log.pins().isEmpty)
        ground.wait(seconds: 1)
        try ground.log.checkpoint()
        #expect(try !hold.begin())
        hold.put(ground.log.snapshot())
        hold.end()
        #expect(try busy.begin())
        busy.end()
        ground.log.release(hold)
        ground.log.release(busy)
        try ground.log.close()
    }

    @Test func `a pin stays until its time is up, then says so`() throws {
        let ground = try Ground()
        let log = ground.log
        let hold = log.hold("context")
        log.pin(hold, PinLimits(nanoseconds: 3_600_000_000_000, byteCount: 1 << 30), "report")
        for version in 1...3 {
            try ground.replace(version: version)
            try log.compact()
            ground.wait(seconds: 1_000)
            try log.checkpoint()
            try log.checkpoint()
            #expect(try ground.use(hold, version: 0))
        }
        #expect(log.pins().map(\.label) == ["report"] && log.pins()[0].isExplicit && log.pins()[0].pinnedByteCount > 0)
        ground.wait(seconds: 600)
        try log.checkpoint()
        let error = #expect(throws: LogError.self) { try hold.begin() }
        #expect(error?.code == .expired)
        #expect(log.pins().map(\.isExpired) == [true] && log.pins()[0].pinnedByteCount == 0)
        log.pin(hold, nil, "context")
        #expect(hold.forgetExpiry())
        #expect(try !ground.use(hold, version: 3))
        log.release(hold)
        #expect(log.pins().isEmpty)
        try log.close()
    }

    @Test func `a pin that costs more than it may expires`() throws {
        let ground = try Ground()
        let hold = ground.log.hold("context")
        ground.log.pin(hold, PinLimits(nanoseconds: .max, byteCount: 10_000), "report")
        try ground.replace(version: 1)
        try ground.log.compact()
        try ground.log.checkpoint()
        #expect(throws: LogError.self) { try hold.begin() }
        ground.log.release(hold)
        try ground.log.close()
    }

    /// A reader that begins and ends while the log takes idle snapshots.
    private final class Reader: Sendable {
        let log: Log
        let isStopping = Atomic<Bool>(false)
        let takenCount = Atomic<Int>(0)
        let useCount = Atomic<Int>(0)

        init(_ log: Log) { self.log = log }

        func read() throws {
            let hold = log.hold("reader")
            defer { log.release(hold) }
            while !isStopping.load(ordering: .relaxed) {
                if try !hold.begin() {
                    takenCount.add(1, ordering: .relaxed)
                    hold.put(log.snapshot())
                }
                for number in 1...Ground.objectCount {
                    let row = try hold.snapshot.row(UInt64(number))
                    precondition(row?.count == 100, "A row that was never deleted is gone.")
                }
                hold.end()
                useCount.add(1, ordering: .relaxed)
                if useCount.load(ordering: .relaxed) % 3 == 0 { usleep(50_000) }
            }
        }
    }

    @Test func `readers and the log do not get in each other's way`() throws {
        let ground = try Ground(segmentByteCount: 16_000)
        let reader = Reader(ground.log)
        let threads = try (0..<2).map { _ in
            try #require(
                SystemThread {
                    do { try reader.read() } catch { preconditionFailure("\(error)") }
                })
        }
        var version = 0
        while reader.takenCount.load(ordering: .relaxed) < 5, version < 200 {
            version += 1
            try ground.replace(version: version)
            try ground.log.compact()
            // The first check finds idle holds, the second takes them: close together, while readers pause.
            for _ in 0..<10 {
                ground.wait(seconds: 100)
                try ground.log.checkpoint()
            }
        }
        reader.isStopping.store(true, ordering: .relaxed)
        for thread in threads { thread.join() }
        #expect(reader.takenCount.load(ordering: .relaxed) > 0 && reader.useCount.load(ordering: .relaxed) > 5)
        #expect(ground.log.pins().isEmpty)
        try ground.log.close()
    }

    /// Segments on the disk.
    private func segmentCount(_ ground: Ground) -> Int {
        ground.store.files(.hotSegment).count + ground.store.files(.coldSegment).count
    }
}
