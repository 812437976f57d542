/// The sum of a manifest's edits: the valid files, and the position from which the log is replayed.
package struct ManifestState: Equatable, Sendable {
    package struct FileEntry: Equatable, Sendable {
        let added: AddedFile
        package var seal: SealedFile?
        package var durable: UInt64
        /// headCRC of the frame that ends at `durable`; 0 if there is none.
        package var durableHead: UInt32
        /// Bytes that compaction would have to keep, and the file's bytes when they were counted: a hint.
        var live: UInt64
        var total: UInt64
        /// For a cold segment, the position behind which the checkpoint's tables lack its moves; nil if they have all.
        var moves: MovePosition?
        /// Whether it is a checkpoint or run that does not verify.
        var isDamaged = false

        package var kind: FileKind { added.kind }
    }

    /// The manifest with this state; nil before there is one.
    package var origin: ManifestOrigin?
    package private(set) var files: [UInt64: FileEntry] = [:]
    /// The low 32 bits of their numbers, by which locations name them.
    private var locatable: Set<UInt32> = []
    /// Dropped segments whose files may still exist: to be removed, although they hold frames.
    package var dropped: Set<UInt64> = []
    var checkpoint: CheckpointPosition?
    var runs: [ManifestEdit.RunEntry] = []
    var nextFileNumber: UInt64 = 1
    var nextIDs: [UInt16: UInt64] = [:]
    var isClean = false
    /// The state that can be restored.
    package private(set) var kept: KeptState?

    package init() {}

    /// Bytes of all segments, by the manifest.
    var segmentByteCount: UInt64 {
        files.values.reduce(0) { $1.kind.isSegment ? $0 + $1.durable : $0 }
    }

    /// Applies an edit.
    ///
    /// - Parameters:
    ///   - edit: The edit.
    ///   - isSnapshot: Whether it belongs to the edits that rebuild a state: these repeat drops, but not the files'
    ///     earlier additions.
    /// - Returns: False if the edit contradicts the state.
    package mutating func apply(_ edit: ManifestEdit, isSnapshot: Bool = false) -> Bool {
        isClean = false
        switch edit {
        case .fileAdded(let file):
            return add(file)
        case .fileSealed(let seal):
            guard files[seal.number] != nil else { return false }
            files[seal.number]?.seal = seal
            files[seal.number]?.durable = seal.end
            files[seal.number]?.durableHead = seal.chain
        case .fileDropped(let number):
            return drop(number, isSnapshot: isSnapshot)
        case .checkpoint(let position):
            guard position.file == 0 || files[position.file]?.kind == .tableCheckpoint,
                files[position.segment]?.kind == .hotSegment
            else { return false }
            checkpoint = position
            for (number, file) in files where file.seal != nil { files[number]?.moves = nil }
        case .runAdded(let run):
            guard files[run.file]?.kind == .indexRun else { return false }
            runs.append(run)
        case .runDropped(let index, let file):
            guard let place = runs.firstIndex(where: { $0.index == index && $0.file == file }) else { return false }
            runs.remove(at: place)
        case .durable(let file, let offset, let head):
            guard let entry = files[file] else { return false }
            if offset > entry.durable {
                files[file]?.durable = offset
                files[file]?.durableHead = head
            }
        case .nextFileNumber(let number):
            nextFileNumber = max(nextFileNumber, number)
        case .fileDamaged(let number):
            guard let kind = files[number]?.kind, kind == .tableCheckpoint || kind == .indexRun else { return false }
            files[number]?.isDamaged = true
        case .usage(let segment, let live, let total):
            guard files[segment] != nil else { return false }
            files[segment]?.live = live
            files[segment]?.total = total
        case .replayFrom(let position):
            guard files[position.segment]?.kind == .coldSegment else { return false }
            files[position.segment]?.moves = position
        case .clean:
            isClean = true
        case .stateKept(let state):
            guard places(state, .hotSegment, state.log), places(state, .blobSegment, state.blobs),
                places(state, .coldSegment, state.cold), state.log.segment != 0
            else { return false }
            kept = state
        case .stateReleased:
            kept = nil
        case .identifiers(let table, let next):
            nextIDs[table] = max(nextIDs[table] ?? 0, next)
        case .manifest(let found):
            guard isSnapshot, origin == nil else { return false }
            origin = found
        }
        return true
    }

    private mutating func add(_ file: AddedFile) -> Bool {
        let number = file.number
        guard files[number] == nil, !dropped.contains(number), number > 0, number <= Limits.fileNumberMax,
            locatable.insert(UInt32(truncatingIfNeeded: number)).inserted
        else { return false }
        files[number] = FileEntry(
            added: file, seal: nil, durable: UInt64(FileHeader.byteCount), durableHead: 0, live: 0, total: 0,
            moves: file.kind == .coldSegment ? MovePosition(segment: number) : nil)
        nextFileNumber = max(nextFileNumber, number + 1)
        return true
    }

    private mutating func drop(_ number: UInt64, isSnapshot: Bool) -> Bool {
        if let file = files[number]?.added, kept?.owns(file) == true { return false }
        let entry = files.removeValue(forKey: number)
        guard entry != nil || isSnapshot else { return false }
        if entry != nil { locatable.remove(UInt32(truncatingIfNeeded: number)) }
        if entry?.kind.isSegment ?? true { dropped.insert(number) }
        return true
    }

    /// The edits that rebuild this state from an empty one, in a fixed order.
    package var edits: [ManifestEdit] {
        var edits: [ManifestEdit] = []
        if let origin { edits.append(.manifest(origin)) }
        edits.append(.nextFileNumber(nextFileNumber))
        for (number, file) in files.sorted(by: { $0.key < $1.key }) {
            edits.append(.fileAdded(file.added))
            if let seal = file.seal {
                edits.append(.fileSealed(seal))
            } else if file.durable > UInt64(FileHeader.byteCount) {
                edits.append(.durable(file: number, offset: file.durable, head: file.durableHead))
            }
            if file.isDamaged { edits.append(.fileDamaged(number: number)) }
            if file.total > 0 { edits.append(.usage(segment: number, live: file.live, total: file.total)) }
        }
        for number in dropped.sorted() { edits.append(.fileDropped(number: number)) }
        if let kept { edits.append(.stateKept(kept)) }
        if let checkpoint { edits.append(.checkpoint(checkpoint)) }
        for (_, file) in files.sorted(by: { $0.key < $1.key }) {
            if let moves = file.moves { edits.append(.replayFrom(moves)) }
        }
        for run in runs { edits.append(.runAdded(run)) }
        for (table, next) in nextIDs.sorted(by: { $0.key < $1.key }) {
            edits.append(.identifiers(table: table, next: next))
        }
        if isClean { edits.append(.clean) }
        return edits
    }

    /// Whether an end in a kept state names one of the state's segments, of a kind, or none.
    private func places(_ state: KeptState, _ kind: FileKind, _ place: KeptState.SegmentPlace) -> Bool {
        if place.segment == 0 { return place == .none }
        guard let file = files[place.segment] else { return false }
        return file.kind == kind && state.owns(file.added) && place.offset >= UInt64(FileHeader.byteCount)
            && place.offset <= max(file.durable, file.seal?.end ?? 0)
    }

    /// Whether a file is a segment of the state that can be restored.
    func isKept(_ number: UInt64) -> Bool {
        guard let kept, let file = files[number] else { return false }
        return kept.owns(file.added)
    }

    /// Numbers of the files of one kind, ascending.
    package func numbers(of kind: FileKind) -> [UInt64] {
        files.filter { $0.value.kind == kind }.map(\.key).sorted()
    }

    /// Counts the small segments that may be merged.
    ///
    /// - Parameters:
    ///   - byteCount: Bytes that a small segment does not reach.
    ///   - isCandidate: Whether a sealed segment, which no kept state has, may be compacted now.
    /// - Returns: The number of those of records or of blobs, the larger one.
    func smallSegmentCount(
        below byteCount: UInt64, where isCandidate: (FileEntry) -> Bool = { _ in true }
    ) -> Int {
        let small = files.values.filter { file in
            file.kind.isSegment && file.seal.map { $0.end < byteCount } ?? false && !isKept(file.added.number)
                && isCandidate(file)
        }
        let blobCount = small.count { $0.kind == .blobSegment }
        return max(blobCount, small.count - blobCount)
    }
}
