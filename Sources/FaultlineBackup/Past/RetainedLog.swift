internal import FaultlineDisk
internal import FaultlineLog

/// The log of a store with the segments that its window of past states keeps.
struct RetainedLog {
    /// The listing with the tables from which the state is built.
    private let base: ManifestState
    /// Later ones, in order, and the present state of the manifest: their segments continue the log.
    private let later: [ManifestState]
    /// The base with the log of the later ones.
    private let all: ManifestState
    /// Whether the tables of the base are newer than the state.
    private let fromBeginning: Bool

    /// Fails if no listing is old enough.
    ///
    /// - Parameters:
    ///   - goal: The wanted state.
    ///   - listings: The listings of the store.
    ///   - present: The present state of the manifest.
    ///   - directory: The directory of the store.
    /// - Throws: `.damaged` if the listings contradict each other.
    init?(
        _ goal: StateGoal, _ listings: [RetainedListing], _ present: ManifestState, in directory: StoreDirectory
    ) throws(LogError) {
        let place = listings.lastIndex { listing in
            listing.hasTables && LogWalk(directory, listing.state).start().map(goal.has) ?? false
        }
        // A walk ends where a segment is missing.
        let hasBeginning = listings.first.map { $0.hasTables && $0.state.hasLogBeginning } ?? false
        guard let begin = place ?? (hasBeginning ? 0 : nil) else { return nil }
        fromBeginning = place == nil
        base = listings[begin].state
        later = listings[(begin + 1)...].map(\.state) + [present]
        var all = base
        guard all.add(filesOf: later) else {
            throw LogError(.damaged, "The listings of past states contradict each other.", path: directory.path)
        }
        self.all = all
    }

    /// Finds the state, and shows its files.
    ///
    /// - Parameters:
    ///   - goal: The wanted state.
    ///   - shown: Gets the files.
    ///   - identity: The identity of the store.
    ///   - durable: The newest transaction that is known to be durable.
    ///   - show: Shows a file of the store.
    /// - Returns: The end of the state, and the manifest of a store that ends there; nil if the log does not have it.
    /// - Throws: `LogError`.
    func find(
        _ goal: StateGoal, on shown: PastDisk, _ identity: Identity, durable: UInt64,
        show: (_ entry: ManifestState.FileEntry, _ number: UInt64) throws(LogError) -> Void
    ) throws(LogError) -> (end: LogPlace, state: ManifestState)? {
        let directory = shown.storeDirectory(identity)
        let walk = LogWalk(directory, all)
        guard let start = walk.start(fromBeginning: fromBeginning) else { return nil }
        for number in all.numbers(of: .hotSegment) where number >= start.segment {
            if let entry = all.files[number] { try show(entry, number) }
        }
        let search = try LogSearch(of: goal, in: walk, from: start) { segments, _ in
            segments.allSatisfy { all.files[$0] != nil }
        }
        guard !search.lacksValues, search.isPassed || goal.isOpen && search.reached.sequence >= durable else {
            return nil
        }
        // Blob segments are measured for their seals.
        for number in all.numbers(of: .blobSegment) {
            if let entry = all.files[number] { try show(entry, number) }
        }
        let state = try base.ending(at: search.found, continuedBy: later, fromBeginning: fromBeginning) {
            (number) throws(LogError) in try directory.byteCount(ofBlobSegment: number)
        }
        guard let state else {
            throw LogError(.damaged, "The listings of past states contradict each other.", path: directory.path)
        }
        for (number, entry) in state.files.sorted(by: { $0.key < $1.key }) {
            if entry.kind != .hotSegment && entry.kind != .blobSegment || number < start.segment {
                try show(entry, number)
            }
            // The file may have got more since.
            if entry.kind == .coldSegment, let seal = entry.seal {
                shown.cut(FileName.numbered(entry.kind, number), to: seal.end)
            }
        }
        return (search.found, state)
    }
}
