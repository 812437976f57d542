internal import FaultlineLog

/// The log of a store, cut behind a wanted state.
struct LogCut {
    let end: LogPlace
    let state: ManifestState

    /// Finds the state in the log.
    ///
    /// - Parameters:
    ///   - goal: The state.
    ///   - files: The files of the store.
    ///   - store: The directory of the store, for errors.
    /// - Throws: `BackupError` of code `notInLog`; `LogError` of code `damaged` if the log has lost its end.
    init(_ goal: StateGoal, _ files: PastFiles.Opened, store: String) throws {
        let directory = files.shown.storeDirectory(files.identity)
        let walk = LogWalk(directory, files.state)
        guard let checkpoint = walk.start(), let beginning = walk.start(fromBeginning: true) else {
            throw LogError(.damaged, "The manifest lists no segment of the log.", path: store)
        }
        let fromBeginning = !walk.hasCheckpoint || !goal.has(checkpoint)
        guard !fromBeginning || walk.isWhole else { throw Self.compacted(walk, checkpoint, store) }
        let search = try LogSearch(of: goal, in: walk, from: fromBeginning ? beginning : checkpoint) { segments, _ in
            // Values that were deleted, or moved, later are in segments that may be gone.
            segments.allSatisfy { files.state.files[$0] != nil }
        }
        // Segments that the writer has begun since are not in the manifest: the newest state ends before their values. Those
        // that are gone went with a checkpoint behind them, from which the walk would have begun.
        guard !search.lacksValues || goal.isNewest && search.found.sequence >= files.durable else {
            // Even the newest state would be built from the beginning.
            guard walk.hasCheckpoint else { throw Self.compacted(walk, checkpoint, store) }
            throw BackupError(
                .notInLog,
                "The log no longer has the large values of that state: their segments were compacted. Backups may have it.",
                path: store)
        }
        if !search.isPassed {
            // The walk has ended before a segment that is gone, or at the end of the log.
            guard search.reached.sequence >= checkpoint.sequence else {
                throw Self.compacted(walk, checkpoint, store)
            }
            guard search.reached.sequence >= files.durable else {
                throw LogError(
                    .damaged,
                    "The log ends behind transaction \(search.reached.sequence), and transaction \(files.durable) had been synchronized. Open the store for the number of missing ones. \(LogError.damageRemedy)",
                    path: store)
            }
            if case .transaction(let sequence) = goal {
                throw BackupError(
                    .notInLog,
                    "There is no transaction \(sequence) yet: the newest is \(search.reached.sequence).", path: store)
            }
        }
        let state = try files.state.ending(at: search.found, continuedBy: [], fromBeginning: fromBeginning) {
            (number) throws(LogError) in try directory.byteCount(ofBlobSegment: number)
        }
        guard let state else { throw LogError(.damaged, "The manifest contradicts itself.", path: store) }
        (end, self.state) = (search.found, state)
    }

    private static func compacted(_ walk: LogWalk, _ checkpoint: LogPlace, _ store: String) -> BackupError {
        BackupError(
            .notInLog,
            walk.hasCheckpoint
                ? "The log no longer has that state: older segments were compacted, and the states begin with transaction \(checkpoint.sequence). Backups may have it."
                : "The store has no readable checkpoint now, from which its states could be read. Open it for writing, make a checkpoint, and try again.",
            path: store)
    }
}
