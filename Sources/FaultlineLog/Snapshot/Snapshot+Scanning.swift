import FaultlineDisk

extension Snapshot {
    /// Calls `body` with the records of a table in ascending order of their identifiers, in batches of up to 256.
    ///
    /// Reads the table's pages in order; neighbouring records are read together.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - first: The smallest identifier wanted.
    ///   - last: The largest identifier wanted; below `first` there is nothing to do.
    ///   - readAhead: The most bytes read at once; less than 4096 counts as 4096.
    ///   - body: Gets views that are valid during the call; returns false to stop.
    /// - Throws: `.damaged` for the first record that does not verify; disk errors; the error of `body`.
    package func scan(
        _ table: TableID, from first: RecordID, through last: RecordID, readAhead: Int,
        _ body: (UnsafeBufferPointer<RecordView>) throws -> Bool
    ) throws {
        var scan = RecordScan(self, table, byteCapacity: max(readAhead, 4_096))
        guard first <= last else { return }
        var goesOn = true
        try forEachPage(of: table, from: first) { firstID, entries in
            for entry in 0..<TablePage.entryCount {
                let id = firstID &+ UInt64(entry)
                if id < first { continue }
                if id > last { return false }
                let location = Location(reading: entries + entry &* Location.byteCount)
                if location.isAbsent { continue }
                scan.add(id, location)
                if scan.isFull {
                    goesOn = try scan.deliver(body)
                    if !goesOn { return false }
                }
            }
            return true
        }
        if goesOn { _ = try scan.deliver(body) }
    }
}

/// Records collected by their locations, read and delivered together.
struct RecordScan: ~Copyable {
    static let batchCount = 256
    /// The largest gap between records that are read together: from this size on, reading the gap costs as much as a
    /// call.
    private static let gapByteCountMax = 16_384

    private let snapshot: Snapshot
    private let table: TableID
    private var bytes: UnsafeMutableRawBufferPointer
    private let ids: UnsafeMutablePointer<RecordID>
    private let locations: UnsafeMutablePointer<Location>
    private let views: UnsafeMutablePointer<RecordView>
    private var count = 0

    init(_ snapshot: Snapshot, _ table: TableID, byteCapacity: Int) {
        self.snapshot = snapshot
        self.table = table
        bytes = BufferMemory.allocateBuffer(byteCount: byteCapacity, alignment: 64)
        ids = .allocate(capacity: Self.batchCount)
        locations = .allocate(capacity: Self.batchCount)
        views = .allocate(capacity: Self.batchCount)
    }

    deinit {
        BufferMemory.deallocate(bytes)
        ids.deallocate()
        locations.deallocate()
        views.deallocate()
    }

    @inline(__always) var isFull: Bool { count == Self.batchCount }

    @inline(__always)
    mutating func add(_ id: RecordID, _ location: Location) {
        ids[count] = id
        locations[count] = location
        count &+= 1
    }

    /// Reads the added records and calls `body`, several times if they do not fit into the buffer.
    ///
    /// - Returns: False if `body` did.
    mutating func deliver(_ body: (UnsafeBufferPointer<RecordView>) throws -> Bool) throws -> Bool {
        var next = 0
        defer { count = 0 }
        while next < count {
            var used = 0
            var viewCount = 0
            while next < count {
                let taken = try readRun(from: next, at: used, into: views + viewCount)
                if taken.records == 0 {
                    if viewCount > 0 { break }
                    // A single record larger than the buffer.
                    let larger = max(taken.bytes, bytes.count * 2)
                    BufferMemory.deallocate(bytes)
                    bytes = BufferMemory.allocateBuffer(byteCount: larger, alignment: 64)
                    continue
                }
                next += taken.records
                viewCount += taken.records
                used += taken.bytes
            }
            guard try body(UnsafeBufferPointer(start: views, count: viewCount)) else { return false }
        }
        return true
    }

    /// Reads the longest run of neighbouring records that fits.
    ///
    /// - Returns: Records and bytes read; no record and the bytes wanted if not even one fits.
    private func readRun(
        from index: Int, at used: Int, into views: UnsafeMutablePointer<RecordView>
    ) throws(LogError) -> (records: Int, bytes: Int) {
        let first = locations[index]
        guard let firstCount = first.byteCount else { return try readSingle(index, at: used, into: views) }
        let room = bytes.count - used
        guard firstCount <= room, let base = bytes.baseAddress else { return (0, firstCount) }
        let start = first.byteOffset
        var end = start + UInt64(firstCount)
        var next = index + 1
        while next < count {
            let location = locations[next]
            guard location.segment == first.segment, let byteCount = location.byteCount, location.byteOffset >= end,
                location.byteOffset - end <= UInt64(Self.gapByteCountMax)
            else { break }
            let newEnd = location.byteOffset + UInt64(byteCount)
            guard newEnd - start <= UInt64(room) else { break }
            end = newEnd
            next += 1
        }
        guard let file = snapshot.files.find(first.segment) else {
            throw snapshot.files.missing("A record", first)
        }
        let target = UnsafeMutableRawBufferPointer(start: base + used, count: Int(end - start))
        let managed = file.takeUnretainedValue()
        let readCount = try onDisk("reading records") { () throws(DiskError) in
            try managed.file.read(into: target, at: start)
        }
        let memory = UnsafeRawPointer(base + used)
        let none = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        for place in index..<next {
            let location = locations[place]
            let offset = Int(location.byteOffset &- start)
            do {
                let (view, _) = try RecordDecoder.decode(
                    memory + offset, limit: max(readCount - offset, 0), id: ids[place], table: table.rawValue,
                    location: location, binding: managed.recordBinding(at: location.byteOffset), scratch: none)
                (views + (place &- index)).initialize(to: view)
            } catch {
                if case .needsCapacity = error {
                    // A compressed record needs room behind it: those before it are read together, it is read
                    // separately.
                    if place > index { return (place - index, Int(end - start)) }
                    return try readSingle(index, at: used, into: views)
                }
                throw RecordFile.damaged(error, ids[place], table, location, try snapshot.file(of: location))
            }
        }
        return (next - index, Int(end - start).roundedUpTo8)
    }

    private func readSingle(
        _ index: Int, at used: Int, into views: UnsafeMutablePointer<RecordView>
    ) throws(LogError) -> (records: Int, bytes: Int) {
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[used...])
        switch try snapshot.read(ids[index], in: table, at: locations[index], into: rest) {
        case .needsCapacity(let byteCount): return (0, byteCount)
        case .record(let view, let byteCount):
            views.initialize(to: view)
            return (1, byteCount.roundedUpTo8)
        }
    }
}
