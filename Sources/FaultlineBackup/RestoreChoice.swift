internal import FaultlineLog

/// The backups that a state is made from.
struct RestoreChoice {
    /// The backup with the tables.
    let base: BackupRecord
    /// Later ones, ascending, whose segments continue the log.
    let later: [BackupRecord]
    let goal: StateGoal

    /// - Throws: `BackupError` of code `notInBackups`, with the range of states that there are.
    init(of point: RestorePoint, from content: BackupSet.Content, _ set: BackupSet) throws {
        let records = content.finished
        guard let oldest = records.first, let newest = records.last else {
            throw content.faults.first?.error
                ?? BackupError(.notFound, "There are no finished backups in this directory.", path: set.directory)
        }
        switch point {
        case .newest:
            (base, later) = (newest, [])
            goal = .transaction(newest.last.transaction)
        case .backup(let number):
            guard let record = records.first(where: { $0.number == number }) else {
                if let fault = content.faults.first(where: { $0.number == number }) { throw fault.error }
                throw BackupError(
                    .notInBackups,
                    "There is no backup with the number \(number): the directory has \(oldest.number) to \(newest.number).",
                    path: set.directory)
            }
            (base, later) = (record, [])
            goal = .transaction(record.last.transaction)
        case .transaction(let sequence):
            (base, later) = try Self.find(in: records) {
                $0.first.transaction <= sequence
            } until: {
                $0.last.transaction >= sequence
            } or: {
                BackupError(
                    .notInBackups,
                    "No backup has transaction \(sequence): they have \(oldest.first.transaction) to \(records.map(\.last.transaction).max() ?? 0).",
                    path: set.directory)
            }
            goal = .transaction(sequence)
        case .time(let nanoseconds):
            (base, later) = try Self.find(in: records, isBounded: false) {
                $0.first.nanoseconds <= nanoseconds
            } until: {
                $0.last.nanoseconds > nanoseconds
            } or: {
                BackupError(
                    .notInBackups,
                    "The oldest backup begins after that moment, at transaction \(oldest.first.transaction).",
                    path: set.directory)
            }
            goal = .time(nanoseconds)
        }
    }

    /// The newest backup that begins before a state, and the later ones up to the first that has the state.
    ///
    /// - Parameters:
    ///   - records: All backups, ascending.
    ///   - isBounded: Whether one of them must have the state.
    ///   - begins: Whether a backup begins before the state.
    ///   - hasIt: Whether a backup has the state.
    ///   - error: The error if there is none.
    /// - Returns: The backup, and the later ones.
    /// - Throws: The error.
    private static func find(
        in records: [BackupRecord], isBounded: Bool = true, begins: (BackupRecord) -> Bool,
        until hasIt: (BackupRecord) -> Bool, or error: () -> BackupError
    ) throws -> (BackupRecord, [BackupRecord]) {
        guard let place = records.lastIndex(where: begins) else { throw error() }
        var later: [BackupRecord] = []
        var isFound = hasIt(records[place])
        for record in records[(place + 1)...] where !isFound {
            later.append(record)
            isFound = hasIt(record)
        }
        guard isFound || !isBounded else { throw error() }
        return (records[place], later)
    }

    /// The files to be copied: those of the base, and the log and the large values of the later ones, each in its longest
    /// form.
    var files: [(record: BackupRecord, file: BackupFile)] {
        var files: [String: (record: BackupRecord, file: BackupFile)] = [:]
        for file in base.files { files[file.name] = (base, file) }
        for record in later {
            for file in record.files {
                // Only a later copy of a blob segment has the headers of values that were being written.
                guard let kind = FileName.parse(file.name)?.kind,
                    kind == .blobSegment
                        || kind == .hotSegment && file.byteCount >= files[file.name]?.file.byteCount ?? 0
                else { continue }
                files[file.name] = (record, file)
            }
        }
        return files.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The newest transaction whose large values are complete in each blob segment.
    var completeness: [UInt64: UInt64] {
        var newest: [UInt64: UInt64] = [:]
        for (record, file) in files {
            guard let (kind, number) = FileName.parse(file.name), kind == .blobSegment else { continue }
            newest[number] = file.isShared ? .max : record.end.sequence
        }
        return newest
    }

    // MARK: The walk

    /// Whether the state is older than the tables of the base.
    func isBeforeCheckpoint(of start: LogPlace?) -> Bool {
        guard let start, base.first.transaction < start.sequence else { return false }
        return !goal.has(start)
    }

    /// Whether a search has found the end of the state.
    func isReached(_ search: LogSearch) -> Bool {
        switch goal {
        case .transaction(let sequence): search.found.sequence == sequence
        // The log of the newest backup needed has been read to its end.
        case .time, .newest: search.reached.sequence >= (later.last ?? base).last.transaction
        }
    }
}
