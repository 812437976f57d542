import FaultlineDisk

/// The least length that the log had, by frames of other files: `docs/FileFormat.md` section 5, "Witnesses".
package struct LogWitness: Equatable, Sendable {
    /// A transaction, and the frame that names it.
    package struct Mark: Equatable, Sendable {
        /// 0 if no frame names one.
        package fileprivate(set) var sequence: UInt64 = 0
        package fileprivate(set) var path = ""
        package fileprivate(set) var offset: UInt64 = 0
    }

    /// Newest transaction that a sync is known to have covered.
    private(set) var durable = Mark()
    /// Newest transaction that is known to have been acknowledged, durable or not.
    private(set) var acknowledged = Mark()

    /// Whether a frame's fields are possible numbers of transactions.
    package static func isInRange(_ header: FrameHeader) -> Bool {
        header.sequence <= Limits.countMax && header.spill <= Limits.countMax
    }

    /// Takes a frame of a manifest or a blob segment into account.
    ///
    /// Ignores a frame with numbers out of range.
    mutating func add(_ header: FrameHeader, at offset: UInt64, of path: String) {
        guard Self.isInRange(header) else { return }
        if header.sequence > durable.sequence {
            durable = Mark(sequence: header.sequence, path: path, offset: offset)
        }
        let acknowledgedHere = max(header.sequence, header.spill)
        if acknowledgedHere > acknowledged.sequence {
            acknowledged = Mark(sequence: acknowledgedHere, path: path, offset: offset)
        }
    }

    /// Takes the frames of a blob segment into account, from an offset on.
    ///
    /// - Complexity: One read for each frame, and all bytes that belong to no frame.
    mutating func add(blobSegment managed: ManagedFile, from start: UInt64) throws(LogError) {
        let length = try onDisk("measuring a blob segment") { () throws(DiskError) in try managed.file.byteCount() }
        var heads = BlobHeads(managed, from: start, limit: length)
        while let (header, offset) = try heads.next() { add(header, at: offset, of: managed.path) }
    }

    /// The transactions that a log lacks if it ends behind `found`.
    ///
    /// - Parameters:
    ///   - found: The last transaction that recovery found.
    ///   - path: The last hot segment.
    ///   - offset: The end of its frames.
    /// - Returns: Nil if no transaction is known to be missing.
    func tail(behind found: UInt64, path: String, offset: UInt64) -> LostTail? {
        let mark = durable.sequence > found ? durable : acknowledged
        guard mark.sequence > found else { return nil }
        return LostTail(
            found: found, count: mark.sequence - found, path: path, offset: offset, witness: mark,
            wasDurable: durable.sequence > found)
    }
}

/// Transactions that a log had, and that recovery did not find.
package struct LostTail: Equatable, Sendable {
    /// The last transaction that was found.
    package let found: UInt64
    /// The least number of transactions that followed it.
    package let count: UInt64
    /// The last hot segment.
    package let path: String
    /// The end of its frames.
    package let offset: UInt64
    /// The frame that proves the loss.
    package let witness: LogWitness.Mark
    /// Whether a sync had covered the transactions.
    ///
    /// Others may be lost in a store whose commits do not wait for the disk.
    package let wasDurable: Bool
}
