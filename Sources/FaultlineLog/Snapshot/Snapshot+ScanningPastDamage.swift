import FaultlineDisk

/// Objects that a scan could not read, with the error.
package struct UnreadableRecords: Sendable {
    /// One identifier; or, for a damaged page of the table, all identifiers of the page.
    package let ids: ClosedRange<RecordID>
    package let error: LogError
}

extension Snapshot {
    /// Calls `body` with the readable records of a table, and `unreadable` with the others.
    ///
    /// Reads as `scan` does. At damage, the records up to it are read one by one, and the scan continues behind it. So
    /// damage costs a few hundred small reads, and no other record is lost.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - first: The identifier to begin with.
    ///   - readAhead: The most bytes read at once; less than 4096 counts as 4096.
    ///   - unreadable: Called, in the order of identifiers, for damaged records and those that the disk cannot read.
    ///   - body: Gets views that are valid during the call, in ascending order; returns false to stop.
    /// - Throws: Other disk errors; the errors of the closures.
    package func scanPastDamage(
        _ table: TableID, from first: RecordID = 1, readAhead: Int, unreadable: (UnreadableRecords) throws -> Void,
        _ body: (UnsafeBufferPointer<RecordView>) throws -> Bool
    ) throws {
        var next: RecordID? = first
        while let first = next {
            var position = first
            var isOwn = true
            do {
                try scan(table, from: first, through: .max, readAhead: readAhead) { records in
                    isOwn = false
                    let goesOn = try body(records)
                    isOwn = true
                    if let last = records.last { position = last.id + 1 }
                    return goesOn
                }
                return
            } catch let error as LogError where isOwn && error.isUnreadable {
                next = try stepOverDamage(in: table, from: position, unreadable, body)
            }
        }
    }

    /// Reads records one by one, up to the first that cannot be read.
    ///
    /// - Returns: The first identifier behind it; nil if there is none, or `body` stopped the scan.
    private func stepOverDamage(
        in table: TableID, from first: RecordID, _ unreadable: (UnreadableRecords) throws -> Void,
        _ body: (UnsafeBufferPointer<RecordView>) throws -> Bool
    ) throws -> RecordID? {
        guard first > 0, first <= Limits.recordIDMax, let root = tables[table.rawValue] else { return nil }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: TablePage.byteCount, alignment: 64)
        defer { copy.deallocate() }
        var buffer = RecordBuffer()
        for page in TablePage.place(of: first).page..<max(root.pageCount, TablePage.place(of: first).page) {
            guard let handle = root.handle(ofPage: page) else { continue }
            let firstID = UInt64(page * TablePage.entryCount) + 1
            let lastID = firstID + UInt64(TablePage.entryCount) - 1
            do throws(LogError) {
                try root.cache.copy(handle, to: copy)
            } catch {
                guard error.isUnreadable else { throw error }
                try unreadable(UnreadableRecords(ids: max(firstID, first)...lastID, error: error))
                return lastID + 1
            }
            for id in max(firstID, first)...lastID {
                let place = TablePage.headerByteCount + Int(id - firstID) * Location.byteCount
                let location = Location(reading: copy + place)
                if location.isAbsent { continue }
                let record: RecordView?
                do throws(LogError) {
                    record = try read(id, in: table, into: &buffer)
                } catch {
                    guard error.isUnreadable else { throw error }
                    try unreadable(UnreadableRecords(ids: id...id, error: error))
                    return id + 1
                }
                guard let record else { continue }
                let goesOn = try withUnsafePointer(to: record) { try body(UnsafeBufferPointer(start: $0, count: 1)) }
                if !goesOn { return nil }
            }
        }
        return nil
    }
}

extension LogError {
    /// Whether the error concerns only the bytes read: they are damaged, or the device cannot read them.
    package var isUnreadable: Bool { code == .damaged || (code == .failedDisk && cause?.code == .ioFailure) }
}
