internal import FaultlineDisk
internal import FaultlineLog

/// The state of a store in a directory of copied files.
struct CopiedState {
    let directory: StoreDirectory
    private let reading: ManifestReader.Reading

    var state: ManifestState { reading.state }
    /// The name of the manifest.
    var manifest: String { FileName.numbered(.manifest, reading.predecessor.managed.number) }
    var storeID: StoreID { directory.storeID }
    var path: String { directory.path }
    private var walk: LogWalk { LogWalk(directory, state) }

    /// Reads the manifest.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - identity: The identity of the store.
    ///   - disk: The disk.
    /// - Throws: `LogError` of code `damaged` if there is none; disk errors.
    init(_ path: String, _ identity: Identity, on disk: Disk) throws(LogError) {
        directory = StoreDirectory(
            disk: disk, path: path, storeID: identity.storeID, nextNumber: 1,
            random: RandomSource(seed: nil))
        let names = try onDisk("listing a copy") { () throws(DiskError) in try disk.names(in: path) }
        guard
            let reading = try ManifestReader.newest(FileName.manifests(among: names), in: directory, for: .reading)
        else {
            throw LogError(.damaged, "The store has no manifest.", path: path)
        }
        self.reading = reading
    }

    /// The newest transaction that the files prove to be durable; reads the unsealed blob segments.
    func newestDurable() throws(LogError) -> UInt64 { try reading.newestDurable(in: directory) }

    /// The bytes of a file of the directory.
    func byteCount(of name: String) throws(LogError) -> UInt64 {
        try onDisk("measuring a file") { () throws(DiskError) in
            try directory.disk.byteCount(of: directory.path(of: name))
        }
    }

    /// The oldest state that can be made from the files: that of the checkpoint, or the empty store.
    ///
    /// - Parameters:
    ///   - earlier: The newest backup of the store: the log that it has read is not read again.
    ///   - begun: The time of the backup: that of a checkpoint may be later, if the clock was wrong once.
    /// - Returns: The state.
    /// - Throws: `LogError` if the files are damaged, or cannot be read.
    func first(after earlier: BackupRecord?, begun: Int64) throws(LogError) -> BackupMoment {
        guard let start = walk.start() else { throw noLog }
        guard walk.isWhole, try isCompleteFromBeginning(after: earlier, to: start) else {
            return BackupMoment(transaction: start.sequence, nanoseconds: min(start.clockNanoseconds, begun))
        }
        return BackupMoment(transaction: 0, nanoseconds: 0)
    }

    /// The end of the newest transaction.
    func end() throws(LogError) -> LogPlace {
        guard var end = walk.start() else { throw noLog }
        try walk.forEachTransaction(from: end) { (next, _) throws(LogError) in
            end = next
            return true
        }
        return end
    }

    /// Whether the log leads from the empty store to the checkpoint, and the large values of all its transactions are
    /// there.
    private func isCompleteFromBeginning(
        after earlier: BackupRecord?, to checkpoint: LogPlace
    ) throws(LogError) -> Bool {
        guard let beginning = walk.start(fromBeginning: true) else { return false }
        var reached = beginning
        if let earlier, earlier.first.transaction == 0, earlier.isContained(in: state), isInLog(earlier.end) {
            reached = earlier.end
        }
        var isComplete = true
        try walk.forEachTransaction(from: reached) { (transaction, placed) throws(LogError) in
            guard transaction.sequence <= checkpoint.sequence else { return false }
            isComplete = placed.allSatisfy { state.files[$0] != nil }
            reached = transaction
            return isComplete && transaction.sequence < checkpoint.sequence
        }
        return isComplete && reached.sequence >= checkpoint.sequence
    }

    /// Whether the log has a place still: a return to an older state may have sealed its segment before it.
    private func isInLog(_ place: LogPlace) -> Bool {
        guard let file = state.files[place.segment] else { return false }
        return file.seal.map { $0.end >= place.offset } ?? true
    }

    private var noLog: LogError { LogError(.damaged, "The manifest lists no segment of the log.", path: path) }
}
