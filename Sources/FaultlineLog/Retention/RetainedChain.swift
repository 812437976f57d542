/// The listings of past states in memory, and the files that they name.
struct RetainedChain {
    /// The part of the window after which tables of a newer state are kept too.
    private static let tablesPerWindow: Int64 = 4
    /// Bytes of log after which they are, as a multiple of those between two checkpoints.
    private static let checkpointsPerTables: UInt64 = 8

    /// A listing.
    struct Entry {
        let number: UInt64
        let byteCount: UInt64
        let hasTables: Bool
        /// The time of the newest transaction of its tables, or the listing's, if the clock was ahead.
        let nanoseconds: Int64
        let newest: UInt64
        let files: Set<UInt64>
        /// The segments of the log and of large values whose ends are known.
        let sealed: Set<UInt64>
        /// The end of its tables' log.
        let checkpoint: CheckpointPosition?
        /// The ends of the segments of the log.
        let ends: [UInt64: UInt64]

        init(_ listing: RetainedListing, byteCount: UInt64, now: Int64) {
            let state = listing.state
            number = listing.number
            self.byteCount = byteCount
            hasTables = listing.hasTables
            nanoseconds = min(listing.wallNanoseconds, now)
            newest = listing.newest
            files = Set(state.files.keys)
            sealed = Set(state.files.filter { $0.value.seal != nil }.keys)
            checkpoint = state.checkpoint
            ends = state.logEnds
        }
    }

    /// Ascending.
    var entries: [Entry] = []
    /// The files that a listing names.
    private(set) var wanted: Set<UInt64> = []
    /// The files in the folder, without listings.
    var held: [UInt64: (name: String, byteCount: UInt64)] = [:]
    /// Files that are still to be moved to the folder.
    var waiting: [String] = []
    /// The error that ended the window.
    var failure: LogError?

    var byteCount: UInt64 { entries.reduce(heldByteCount) { $0 + $1.byteCount } }
    var heldByteCount: UInt64 { held.values.reduce(0) { $0 + $1.byteCount } }

    // MARK: Listings

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        wanted.formUnion(entry.files)
    }

    /// Forgets listings, and returns the files that no other one names.
    mutating func forget(_ numbers: Set<UInt64>) -> [UInt64: (name: String, byteCount: UInt64)] {
        entries.removeAll { numbers.contains($0.number) }
        countWanted()
        return held.filter { !wanted.contains($0.key) }
    }

    mutating func countWanted() { wanted = entries.reduce(into: []) { $0.formUnion($1.files) } }

    /// Whether no listing has tables, so that the next checkpoint would drop those before which the log does not reach.
    func needsTables(of state: ManifestState) -> Bool {
        state.checkpoint?.file ?? 0 != 0 && !state.hasAllSinceBeginning && !entries.contains(where: \.hasTables)
    }

    /// Whether the tables of a state are kept: states are built from the newest tables before them, and the log behind
    /// those.
    func areTablesDue(
        _ state: ManifestState, now: Int64, _ window: RetentionWindow, checkpointByteCount: UInt64
    ) -> Bool {
        guard let place = entries.lastIndex(where: \.hasTables), let checkpoint = entries[place].checkpoint else {
            return true
        }
        let (age, isOver) = now.subtractingReportingOverflow(entries[place].nanoseconds)
        if isOver || age >= window.nanoseconds / Self.tablesPerWindow { return true }
        var ends = state.logEnds
        for entry in entries[place...] { ends.merge(entry.ends) { max($0, $1) } }
        var byteCount: UInt64 = 0
        for (number, end) in ends where number >= checkpoint.segment {
            byteCount += number == checkpoint.segment ? end - min(checkpoint.offset, end) : end
        }
        return byteCount / Self.checkpointsPerTables >= checkpointByteCount
    }

    /// The dropped segments of the log and of large values whose ends no listing since the newest tables has; nil if
    /// there are none.
    func continuation(_ state: ManifestState, _ dropped: Set<UInt64>) -> ManifestState? {
        let place = entries.lastIndex(where: \.hasTables) ?? 0
        let known = entries[place...].reduce(into: Set<UInt64>()) { $0.formUnion($1.sealed) }
        var rest = ManifestState()
        for number in dropped.sorted() where !known.contains(number) {
            guard let file = state.files[number], file.kind == .hotSegment || file.kind == .blobSegment else {
                continue
            }
            guard rest.apply(.fileAdded(file.added)) else { return nil }
            if let seal = file.seal { guard rest.apply(.fileSealed(seal)) else { return nil } }
        }
        return rest.files.isEmpty ? nil : rest
    }
}

extension ManifestState {
    /// Whether the log leads from the beginning of the store to the tables, and nothing was compacted: then its large
    /// values are there too.
    fileprivate var hasAllSinceBeginning: Bool {
        hasLogBeginning && numbers(of: .coldSegment).isEmpty && isLogContinuous()
    }
}
