import FaultlineDisk

extension ManifestState {
    /// The state whose log ends at a transaction: a store of this state has that transaction and none behind it.
    ///
    /// The hot segment with the end goes on behind it. All other segments are sealed, and later ones are not listed.
    ///
    /// - Parameters:
    ///   - end: The transaction; not before the checkpoint, unless `fromBeginning`.
    ///   - later: States of the same store after this one, in order: their segments continue the log.
    ///   - fromBeginning: Whether to leave out checkpoint and runs, so that an opening builds tables and indexes from
    ///     the whole log.
    ///   - byteCount: The length of a blob segment's file.
    /// - Returns: Nil if the states contradict each other.
    /// - Throws: The errors of `byteCount`.
    package func ending(
        at end: LogPlace, continuedBy later: [ManifestState], fromBeginning: Bool,
        byteCount: (UInt64) throws(LogError) -> UInt64
    ) throws(LogError) -> ManifestState? {
        var all = self
        guard all.add(filesOf: later) else { return nil }
        var cut = ManifestState()
        for edit in all.edits where all.isKept(edit, by: end, fromBeginning) {
            guard cut.apply(edit.bounded(by: end.sequence), isSnapshot: true) else { return nil }
        }
        guard try cut.seal(through: end, byteCount) else { return nil }
        if fromBeginning {
            guard let first = cut.numbers(of: .hotSegment).first,
                cut.apply(.checkpoint(.beginning(of: [first])))
            else { return nil }
        }
        return cut
    }

    /// Lists the hot segments and blob segments of later states too, and takes over their seals.
    package mutating func add(filesOf later: [ManifestState]) -> Bool {
        for state in later {
            for (number, file) in state.files.sorted(by: { $0.key < $1.key })
            where file.kind == .hotSegment || file.kind == .blobSegment {
                if files[number] == nil {
                    dropped.remove(number)
                    guard apply(.fileAdded(file.added)) else { return false }
                }
                guard files[number]?.added == file.added else { return false }
                if let seal = file.seal {
                    guard apply(.fileSealed(seal)) else { return false }
                } else if file.durable > UInt64(FileHeader.byteCount) {
                    guard apply(.durable(file: number, offset: file.durable, head: file.durableHead)) else {
                        return false
                    }
                }
            }
        }
        return true
    }

    /// Whether the cut state has an edit of this one as it is.
    private func isKept(_ edit: ManifestEdit, by end: LogPlace, _ fromBeginning: Bool) -> Bool {
        func isListed(_ number: UInt64) -> Bool {
            guard let kind = files[number]?.kind else { return false }
            // Cold segments may have versions of later transactions; the whole log has all that it needs.
            if fromBeginning, kind == .coldSegment { return false }
            return kind.isSegment ? kind != .hotSegment || number <= end.segment : !fromBeginning
        }
        switch edit {
        case .fileAdded(let file): return isListed(file.number)
        case .fileSealed(let seal): return isListed(seal.number) && seal.number != end.segment
        case .durable(let file, _, _): return isListed(file) && file != end.segment
        case .usage(let segment, _, _): return isListed(segment) && segment != end.segment
        case .fileDamaged(let number): return isListed(number)
        // The identifiers are those of the tables, which may be newer than the end.
        case .checkpoint, .replayFrom, .runAdded, .runDropped, .identifiers: return !fromBeginning
        // No file of a dropped segment is in the new store.
        case .fileDropped, .stateKept, .stateReleased, .clean: return false
        case .manifest, .nextFileNumber: return true
        }
    }

    /// Seals the segments that are open, but for the one with the end, which is durable up to there.
    private mutating func seal(
        through end: LogPlace, _ byteCount: (UInt64) throws(LogError) -> UInt64
    ) throws(LogError) -> Bool {
        guard files[end.segment]?.kind == .hotSegment else { return false }
        for (number, file) in files.sorted(by: { $0.key < $1.key }) where file.seal == nil && number != end.segment {
            let place: (end: UInt64, head: UInt32)
            switch file.kind {
            // As an opening after a crash seals them.
            case .blobSegment: place = (max(file.durable, try byteCount(number).roundedUpTo8), 0)
            case .coldSegment: place = (file.durable, file.durableHead)
            case .hotSegment: return false
            case .manifest, .tableCheckpoint, .indexRun: continue
            }
            let seal = SealedFile(
                number: number, end: place.end, chain: place.head,
                firstSequence: file.kind == .blobSegment ? min(file.added.begun + 1, end.sequence) : 0,
                lastSequence: end.sequence)
            guard apply(.fileSealed(seal)) else { return false }
        }
        guard end.offset > UInt64(FileHeader.byteCount) else { return true }
        return apply(.durable(file: end.segment, offset: end.offset, head: end.head))
    }
}

extension ManifestEdit {
    /// The edit without numbers of transactions above one: later transactions of the new store get these numbers again.
    ///
    /// A cold segment that was begun later has versions of before the checkpoint only, so the lower number is true.
    fileprivate func bounded(by newest: UInt64) -> ManifestEdit {
        switch self {
        case .fileAdded(let file):
            .fileAdded(
                AddedFile(
                    number: file.number, kind: file.kind, generation: file.generation, salt: file.salt,
                    begun: min(file.begun, newest)))
        case .fileSealed(let seal):
            .fileSealed(
                SealedFile(
                    number: seal.number, end: seal.end, chain: seal.chain,
                    firstSequence: min(seal.firstSequence, newest), lastSequence: min(seal.lastSequence, newest),
                    contentHash: seal.contentHash))
        default: self
        }
    }
}
