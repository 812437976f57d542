import FaultlineDisk

/// Reads manifests and finds the one in force: `docs/FileFormat.md` section 8.
enum ManifestReader {
    struct Reading {
        let managed: ManagedFile
        let state: ManifestState
        /// Where the next edit would go.
        let end: UInt64
        let previousHead: UInt32
        /// Nothing stands behind `end`.
        let isWhole: Bool
    }

    /// The manifest in force among `numbers`, or nil if there is none that verifies.
    ///
    /// - Throws: `.damaged` if the one in force holds damage that is no torn tail.
    static func newest(_ numbers: [UInt64], in directory: StoreDirectory, for access: FileAccess) throws(LogError)
        -> Reading?
    {
        for number in numbers.sorted(by: >) {
            let managed: ManagedFile
            do {
                managed = try directory.open(.manifest, number, for: access)
            } catch {
                if error.code == .damaged { continue }
                throw error
            }
            if let reading = try read(managed) { return reading }
        }
        return nil
    }

    /// Whether a manifest that is not in force verifies: then it is one whose place another took.
    static func isWhole(_ number: UInt64, in directory: StoreDirectory) throws(LogError) -> Bool {
        do throws(LogError) {
            return try read(try directory.open(.manifest, number, for: .reading)) != nil
        } catch {
            guard error.code == .damaged || error.code == .newerFormat else { throw error }
            return false
        }
    }

    /// The state in one manifest, or nil if its first frame does not verify.
    private static func read(_ managed: ManagedFile) throws(LogError) -> Reading? {
        let length = try onDisk("reading a manifest") { () throws(DiskError) in try managed.file.byteCount() }
        var scanner = FrameScanner(managed, from: UInt64(FileHeader.byteCount), previousHead: 0, limit: length)
        var state = ManifestState()
        var frameCount = 0
        while let frame = try scanner.next() {
            try apply(frame, to: &state, isSnapshot: frameCount == 0, managed)
            frameCount += 1
        }
        let end = scanner.offset
        let previousHead = scanner.previousHead
        guard frameCount > 0 else {
            // A torn first frame: this manifest was being written. One that had edits was in force, and is damaged.
            let behind = try scanner.largestWatermarkBehind()
            guard behind == 0 else { throw .damaged("The manifest is damaged.", managed.path, end) }
            return nil
        }
        var durable = scanner.durable
        if end < length { durable = max(durable, try scanner.largestWatermarkBehind()) }
        guard durable <= end else { throw .damaged("The manifest is damaged.", managed.path, end) }
        return Reading(managed: managed, state: state, end: end, previousHead: previousHead, isWhole: end == length)
    }

    private static func apply(
        _ frame: FrameScanner.Frame, to state: inout ManifestState, isSnapshot: Bool, _ managed: ManagedFile
    ) throws(LogError) {
        guard let kind = frame.header.kind else { return }
        guard kind == .edit, let body = frame.body.baseAddress else {
            throw .damaged("The manifest holds a frame that is no edit.", managed.path, frame.offset)
        }
        var place = 0
        for _ in 0..<frame.header.recordCount {
            let record = RecordHeader(reading: body + place)
            let payload = UnsafeRawBufferPointer(
                start: body + place + RecordHeader.byteCount, count: record.storedByteCount)
            let offset = frame.offset + UInt64(FrameHeader.byteCount + place)
            let edit: ManifestEdit
            do throws(FormatFault) {
                guard record.isUnderstood else { throw .newerFormat }
                guard record.operation == RecordOperation.edit.rawValue else { throw .unknownKind }
                edit = try ManifestEdit(kind: record.layout, payload: payload)
            } catch {
                if case .newerFormat = error { throw .newerFormat("The manifest holds an edit", managed.path, offset) }
                throw .damaged("The manifest holds an edit that \(error.sentence).", managed.path, offset)
            }
            guard state.apply(edit, isSnapshot: isSnapshot) else {
                throw .damaged("The manifest holds an edit that contradicts the others.", managed.path, offset)
            }
            place += record.wholeByteCount
        }
    }
}
