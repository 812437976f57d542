import FaultlineDisk

/// Reads single records of a segment.
package enum RecordFile {
    /// Reads the record at `location` into `target`, with one read if the location has its size.
    @inline(__always)
    package static func read(
        _ id: RecordID, in table: TableID, at location: Location, of managed: ManagedFile,
        into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> RecordRead {
        defer { withExtendedLifetime(managed) {} }
        return try read(id, in: table, at: location, of: Unmanaged.passUnretained(managed), into: target)
    }

    /// The same for a file that its owner keeps alive, from pages in memory if the record is there; takes no reference.
    @inline(__always)
    static func read(
        _ id: RecordID, in table: TableID, at location: Location, of file: Unmanaged<ManagedFile>,
        by pages: RecordPages, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> RecordRead {
        guard let byteCount = location.byteCount, byteCount <= min(target.count, RecordPages.recordByteCountMax),
            let start = target.baseAddress, pages.copy(location, byteCount, of: file, to: start)
        else { return try read(id, in: table, at: location, of: file, into: target) }
        do throws(RecordDecoder.Fault) {
            return try decode(byteCount, limit: byteCount, id, table, location, file, target)
        } catch {
            // The page may be older than the record; if it is not, the error is that of a read from the file.
            pages.forget(location, byteCount)
            return try read(id, in: table, at: location, of: file, into: target)
        }
    }

    /// The same, always from the file.
    @inline(__always)
    static func read(
        _ id: RecordID, in table: TableID, at location: Location, of file: Unmanaged<ManagedFile>,
        into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> RecordRead {
        let byteCount: Int
        if let known = location.byteCount {
            byteCount = known
        } else {
            byteCount = try wholeByteCount(at: location, of: file.takeUnretainedValue())
        }
        guard byteCount <= target.count, let start = target.baseAddress else { return .needsCapacity(byteCount) }
        let part = UnsafeMutableRawBufferPointer(start: start, count: byteCount)
        var failure: DiskError?
        let count = file._withUnsafeGuaranteedRef { managed in
            do throws(DiskError) { return try managed.file.read(into: part, at: location.byteOffset) } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw LogError(failure, doing: "reading a record") }
        do throws(RecordDecoder.Fault) {
            return try decode(byteCount, limit: count, id, table, location, file, target)
        } catch {
            throw damaged(error, id, table, location, file.takeUnretainedValue())
        }
    }

    /// Verifies the record of `byteCount` bytes at the beginning of `target`, of which `limit` were read; the rest of the
    /// buffer is for its decompressed row.
    @inline(__always)
    private static func decode(
        _ byteCount: Int, limit: Int, _ id: RecordID, _ table: TableID, _ location: Location,
        _ file: Unmanaged<ManagedFile>, _ target: UnsafeMutableRawBufferPointer
    ) throws(RecordDecoder.Fault) -> RecordRead {
        guard let start = target.baseAddress else { return .needsCapacity(byteCount) }
        let binding = file._withUnsafeGuaranteedRef { $0.recordBinding(at: location.byteOffset) }
        do throws(RecordDecoder.Fault) {
            let scratch = UnsafeMutableRawBufferPointer(start: start + byteCount, count: target.count - byteCount)
            let (view, used) = try RecordDecoder.decode(
                start, limit: limit, id: id, table: table.rawValue, location: location, binding: binding,
                scratch: scratch)
            return .record(view, byteCount: byteCount + used)
        } catch {
            guard case .needsCapacity(let more) = error else { throw error }
            return .needsCapacity(byteCount + more)
        }
    }

    @inline(never)
    static func damaged(
        _ fault: RecordDecoder.Fault, _ id: RecordID, _ table: TableID, _ location: Location, _ managed: ManagedFile
    ) -> LogError {
        if case .newerFormat = fault {
            return .newerFormat(
                "The record of object \(id) of \(managed.text(of: table)) is", managed.path, location.byteOffset)
        }
        return managed.noting(
            .damaged(
                "The record of object \(id) of \(managed.text(of: table)) \(fault.sentence).", managed.path,
                location.byteOffset))
    }

    /// Bytes of header, payload and padding, by the record's header.
    @inline(never)
    private static func wholeByteCount(at location: Location, of managed: ManagedFile) throws(LogError) -> Int {
        try withUnsafeTemporaryAllocation(byteCount: RecordHeader.byteCount, alignment: 8) { (bytes) throws(LogError) in
            try managed.read(into: bytes, at: location.byteOffset, "reading a record's header")
            guard let start = bytes.baseAddress else { return 0 }
            let header = RecordHeader(reading: start)
            guard header.storedByteCount <= Limits.frameBodyByteCountMax else {
                throw managed.noting(
                    .damaged("A record is larger than any can be.", managed.path, location.byteOffset))
            }
            return header.wholeByteCount
        }
    }
}
