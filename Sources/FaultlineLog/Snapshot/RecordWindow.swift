import FaultlineDisk

/// Reads records one by one, and those that lie near each other in their file by one read.
///
/// A search by an index asks for records in the order of their keys. Where that is about the order in which they were
/// written, most of them lie beside the one before. A record that is near the one before is read together with the
/// bytes that follow in the direction of the search; records among these need no further read. One that is far from
/// the one before is read alone. Each record is verified as after a read of its own.
package struct RecordWindow: ~Copyable {
    /// The most bytes that are read at once.
    package static let byteCount = 16 << 10
    /// Records at a smaller distance are near: several of them fit into one read.
    private static let nearByteCount: UInt64 = 4 << 10

    private let snapshot: Snapshot
    /// Holds a record that is read alone, and decompressed rows.
    private var buffer = RecordBuffer()
    /// Bytes of a file; nil until two records were near each other.
    private var memory: UnsafeMutableRawBufferPointer?
    private var segment: UInt32 = 0
    private var start: UInt64 = 0
    private var end: UInt64 = 0
    private var last = Location.absent

    /// A window on the records that a snapshot sees.
    package init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    deinit {
        if let memory { BufferMemory.deallocate(memory) }
    }

    /// Reads one record, and verifies it.
    ///
    /// - Returns: The record, valid until the next read, or nil if the object does not exist.
    /// - Throws: `.damaged` if the record does not verify.
    package mutating func read(_ id: RecordID, in table: TableID) throws(LogError) -> RecordView? {
        let location = try snapshot.location(of: id, in: table)
        guard !location.isAbsent else { return nil }
        defer { last = location }
        if let byteCount = location.byteCount, byteCount <= Self.byteCount,
            let file = snapshot.files.find(location.segment)
        {
            if !holds(location, byteCount), isNear(location) { fill(at: location, byteCount, of: file) }
            if holds(location, byteCount), let view = view(id, table, location, byteCount, of: file) { return view }
        }
        // Also for a record of the window that does not verify: its error is that of a read of its own.
        return try snapshot.read(id, in: table, at: location, into: &buffer)
    }

    private func holds(_ location: Location, _ byteCount: Int) -> Bool {
        location.segment == segment && location.byteOffset >= start && location.byteOffset + UInt64(byteCount) <= end
    }

    private func isNear(_ location: Location) -> Bool {
        let (offset, before) = (location.byteOffset, last.byteOffset)
        return location.segment == last.segment
            && (offset > before ? offset - before : before - offset) < Self.nearByteCount
    }

    /// Reads the bytes from a record on; those up to its end if the record before is behind it.
    ///
    /// If they cannot be read, the window is empty, and the record is read alone.
    private mutating func fill(at location: Location, _ byteCount: Int, of file: Unmanaged<ManagedFile>) {
        let memory = memory ?? BufferMemory.allocateBuffer(byteCount: Self.byteCount)
        self.memory = memory
        segment = location.segment
        start = location.byteOffset
        var count = Self.byteCount
        if location.byteOffset < last.byteOffset {
            let recordEnd = location.byteOffset + UInt64(byteCount)
            start = recordEnd > UInt64(count) ? recordEnd - UInt64(count) : 0
            count = Int(recordEnd - start)
        }
        let part = UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
        end = start + UInt64((try? file._withUnsafeGuaranteedRef { try $0.file.read(into: part, at: start) }) ?? 0)
    }

    /// The record at a location in the window; nil if it does not verify.
    private mutating func view(
        _ id: RecordID, _ table: TableID, _ location: Location, _ byteCount: Int, of file: Unmanaged<ManagedFile>
    ) -> RecordView? {
        guard let bytes = memory?.baseAddress.map({ $0 + Int(location.byteOffset - start) }) else { return nil }
        let binding = file._withUnsafeGuaranteedRef { $0.recordBinding(at: location.byteOffset) }
        while true {
            do throws(RecordDecoder.Fault) {
                return try RecordDecoder.decode(
                    bytes, limit: byteCount, id: id, table: table.rawValue, location: location, binding: binding,
                    scratch: buffer.bytes
                ).view
            } catch {
                guard case .needsCapacity(let capacity) = error, capacity > buffer.bytes.count else { return nil }
                buffer.grow(to: capacity)
            }
        }
    }
}
