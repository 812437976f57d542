package import FaultlineDisk

/// Reads manifests and finds the one in force: `docs/FileFormat.md` section 8.
package enum ManifestReader {
    package struct Reading {
        let managed: ManagedFile
        package let state: ManifestState
        /// The manifest, for its successor.
        package var predecessor: Manifest.Predecessor { (managed, previousHead) }
        /// The end of the snapshot.
        let snapshotEnd: UInt64
        /// The offset of the next edit.
        let end: UInt64
        let previousHead: UInt32
        /// The least length of the log, by the frames.
        let witness: LogWitness
        /// Whether no bytes follow `end`.
        package let isWhole: Bool
    }

    /// The manifest in force among `numbers`, or nil if there are none.
    ///
    /// - Throws: `.damaged` if the one in force holds damage that is no torn tail, or if none verifies: then with file
    ///   and offset of the newest.
    package static func newest(_ numbers: [UInt64], in directory: StoreDirectory, for access: FileAccess)
        throws(LogError)
        -> Reading?
    {
        var newestFault: LogError?
        for number in numbers.sorted(by: >) {
            let managed: ManagedFile
            do {
                managed = try directory.open(.manifest, number, for: access)
            } catch {
                guard error.code == .damaged else { throw error }
                newestFault = newestFault ?? error
                continue
            }
            switch try read(managed) {
            case .whole(let reading): return reading
            case .torn(let offset):
                newestFault =
                    newestFault
                    ?? LogError.damaged(
                        "No manifest of the store verifies; the newest ends here.", managed.path, offset)
            }
        }
        if let newestFault { throw newestFault }
        return nil
    }

    /// Whether a manifest that is not in force verifies: then it is a superseded one.
    static func isWhole(_ number: UInt64, in directory: StoreDirectory) throws(LogError) -> Bool {
        do throws(LogError) {
            guard case .whole = try read(try directory.open(.manifest, number, for: .reading)) else { return false }
            return true
        } catch {
            guard error.code == .damaged || error.code == .newerFormat else { throw error }
            return false
        }
    }

    /// Whether a manifest was never in force, because it was never completely written: all its bytes verify, and the
    /// file ends inside the snapshot.
    ///
    /// It would have taken effect only after its synchronization, after which the file cannot be shorter. Wrong bytes,
    /// even zeros, prove nothing: they may be damage of a manifest that was in force.
    static func isTorn(_ number: UInt64, in directory: StoreDirectory) throws(LogError) -> Bool {
        do throws(LogError) {
            let managed = try directory.open(.manifest, number, for: .reading)
            let length = try onDisk("reading a manifest") { () throws(DiskError) in try managed.file.byteCount() }
            var scanner = FrameScanner(managed, from: UInt64(FileHeader.byteCount), previousHead: 0, limit: length)
            while let frame = try scanner.next() {
                guard frame.header.kind == .edit, frame.header.isContinued else { return false }
            }
            return try scanner.isCutOff()
        } catch {
            guard error.code == .damaged || error.code == .newerFormat else { throw error }
            return false
        }
    }

    /// One manifest.
    private enum Found {
        case whole(Reading)
        /// The snapshot does not verify behind an offset.
        case torn(UInt64)
    }

    private static func read(_ managed: ManagedFile) throws(LogError) -> Found {
        let length = try onDisk("reading a manifest") { () throws(DiskError) in try managed.file.byteCount() }
        var scanner = FrameScanner(managed, from: UInt64(FileHeader.byteCount), previousHead: 0, limit: length)
        var state = ManifestState()
        var snapshotEnd: UInt64 = 0
        var end = scanner.offset
        var previousHead = scanner.previousHead
        // Edits count only with the last frame of their group.
        var group: [ManifestEdit] = []
        var part: UInt32 = 0
        var witness = LogWitness()
        while let frame = try scanner.next() {
            // A frame without a known kind is one that this version may skip.
            if frame.header.kind != nil {
                guard frame.header.part == part else {
                    throw .damaged("The manifest holds a part of other edits.", managed.path, frame.offset)
                }
                try read(frame, of: managed, into: &group)
                guard LogWitness.isInRange(frame.header) else {
                    throw .damaged("The manifest names a transaction that no log has.", managed.path, frame.offset)
                }
                witness.add(frame.header, at: frame.offset, of: managed.path)
                part += 1
                if frame.header.isContinued { continue }
                for edit in group where !state.apply(edit, isSnapshot: snapshotEnd == 0) {
                    throw .damaged(
                        "The manifest holds an edit that contradicts the others.", managed.path, frame.offset)
                }
                guard state.origin != nil else {
                    throw .damaged("The manifest does not say which it is.", managed.path, frame.offset)
                }
                group.removeAll()
                part = 0
                if snapshotEnd == 0 { snapshotEnd = scanner.offset }
            }
            if part == 0 {
                end = scanner.offset
                previousHead = scanner.previousHead
            }
        }
        var durable = scanner.durable
        if scanner.offset < length { durable = max(durable, try scanner.largestWatermarkBehind()) }
        // A torn snapshot that nothing follows: the manifest was never completed. One with edits was in force.
        if snapshotEnd == 0, durable == 0 { return .torn(end) }
        guard snapshotEnd > 0, durable <= end else { throw .damaged("The manifest is damaged.", managed.path, end) }
        return .whole(
            Reading(
                managed: managed, state: state, snapshotEnd: snapshotEnd, end: end, previousHead: previousHead,
                witness: witness, isWhole: end == length))
    }

    /// Appends the edits of a frame.
    private static func read(
        _ frame: FrameScanner.Frame, of managed: ManagedFile, into edits: inout [ManifestEdit]
    ) throws(LogError) {
        guard frame.header.kind == .edit, let body = frame.body.baseAddress else {
            throw .damaged("The manifest holds a frame that is no edit.", managed.path, frame.offset)
        }
        var place = 0
        for _ in 0..<frame.header.recordCount {
            let record = RecordHeader(reading: body + place)
            let payload = UnsafeRawBufferPointer(
                start: body + place + RecordHeader.byteCount, count: record.storedByteCount)
            do throws(FormatFault) {
                guard record.isUnderstood else { throw .newerFormat }
                guard record.operation == RecordOperation.edit.rawValue else { throw .unknownKind }
                edits.append(try ManifestEdit(kind: record.layout, payload: payload))
            } catch {
                let offset = frame.offset + UInt64(FrameHeader.byteCount + place)
                if case .newerFormat = error { throw .newerFormat("The manifest holds an edit", managed.path, offset) }
                throw .damaged("The manifest holds an edit that \(error.sentence).", managed.path, offset)
            }
            place += record.wholeByteCount
        }
    }
}
