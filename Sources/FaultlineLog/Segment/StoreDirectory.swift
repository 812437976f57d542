package import FaultlineDisk
import Synchronization

/// The directory of one store: creates, opens and removes its files, and assigns their numbers.
// Safe because mutable state is atomic, guarded by a lock, or set before the directory is shared.
package final class StoreDirectory: @unchecked Sendable {
    package let disk: Disk
    package let path: String
    package let storeID: StoreID
    let removals = FileRemovals()
    let damage = DerivedDamage()
    let watch = StoreWatch()
    let presence: DirectoryPresence
    let progress = LogProgress()
    /// The kind of the file system of a store that is open for writing; nil if the disk does not report it.
    ///
    /// Set before the directory is shared.
    private(set) var fileSystem: FileSystemKind?
    /// The store's files that may rest; nil if others remove files, or the file system gives a file another identity when
    /// it is opened again.
    private var resting: RestingFiles?
    /// The destination of files that the store does not need; nil if they are removed.
    ///
    /// Set before the directory is shared.
    var unneeded: (any UnneededFiles)?
    private let nextNumber: Atomic<UInt64>
    let random: RandomSource

    package init(disk: Disk, path: String, storeID: StoreID, nextNumber: UInt64, random: RandomSource) {
        self.disk = disk
        self.path = path
        self.storeID = storeID
        self.nextNumber = Atomic(nextNumber)
        self.random = random
        presence = DirectoryPresence(path, on: disk)
    }

    /// One above the largest number assigned.
    var nextFileNumber: UInt64 { nextNumber.load(ordering: .relaxed) }

    func raiseNextFileNumber(to number: UInt64) {
        _ = nextNumber.max(number, ordering: .relaxed)
    }

    /// Assigns a number that no file ever had.
    ///
    /// Its low 32 bits are not 0, which in a location means no object.
    func takeFileNumber() throws(LogError) -> UInt64 {
        while true {
            let number = nextNumber.wrappingAdd(1, ordering: .relaxed).oldValue
            guard number > 0, number <= Limits.fileNumberMax else {
                throw .tooLarge("The store has no file numbers left. Copy it into a new one.")
            }
            if UInt32(truncatingIfNeeded: number) != 0 { return number }
        }
    }

    func randomNumber() -> UInt64 { random.next() }

    package func path(of name: String) -> String { path + "/" + name }

    package func path(_ kind: FileKind, _ number: UInt64) -> String { path(of: FileName.numbered(kind, number)) }

    /// An open file that a manifest lists, or that is only read.
    package func managed(_ file: DiskFile, _ header: FileHeader) -> ManagedFile {
        ManagedFile(header: header, file: file, isListed: true, removals: removals, damage: damage, watch: watch)
    }

    /// Creates a file and writes its header.
    ///
    /// Nothing is synchronized; the file may not be relied on yet. Until `noteListed` it counts as removable.
    ///
    /// - Throws: `.removed`, `.fullDisk` and other disk errors; then there is no such file.
    func create(_ kind: FileKind, generation: UInt32 = 0) throws(LogError) -> ManagedFile {
        try presence.check()
        let number = try takeFileNumber()
        let header = FileHeader(
            kind: kind, storeID: (storeID.high, storeID.low), fileNumber: number, salt: randomNumber(),
            generation: generation)
        let target = path(kind, number)
        do throws(DiskError) {
            let file = try disk.open(target, for: .creating)
            do throws(DiskError) {
                try withUnsafeTemporaryAllocation(byteCount: FileHeader.byteCount, alignment: 8) {
                    (bytes) throws(DiskError) in
                    if let start = bytes.baseAddress { header.write(to: start) }
                    try file.write(UnsafeRawBufferPointer(bytes), at: 0)
                }
            } catch {
                file.close()
                remove(target)
                throw error
            }
            return ManagedFile(
                header: header, file: file, isListed: false, removals: removals, damage: damage, watch: watch)
        } catch {
            throw error.isAboutSpace ? LogError(noRoom: error) : LogError(error, doing: "creating a file")
        }
    }

    /// Creates a segment and writes its header, both durable: the file, and its entry in the directory.
    ///
    /// The next edit of the manifest may list it.
    ///
    /// - Parameters:
    ///   - kind: The kind of segment.
    ///   - headerSite: Names the synchronization of the file.
    ///   - directorySite: Names that of the directory.
    /// - Returns: The file, to be listed.
    /// - Throws: `.fullDisk` and other disk errors; a file created before the error is removed later.
    func createDurably(_ kind: FileKind, headerSite: SyncSite, directorySite: SyncSite) throws(LogError) -> ManagedFile
    {
        let managed = try create(kind)
        try onDisk("making a segment durable") { () throws(DiskError) in
            try managed.file.synchronize(site: headerSite)
        }
        try synchronize(site: directorySite)
        return managed
    }

    /// Opens a file that the manifest lists, and checks that it is that file.
    ///
    /// A write-once file must have its original length, a hot segment at least its known durable length.
    package func open(_ entry: ManifestState.FileEntry, for access: FileAccess) throws(LogError) -> ManagedFile {
        let managed = try open(entry.kind, entry.added.number, for: access)
        guard managed.header.salt == entry.added.salt, managed.header.generation == entry.added.generation
        else {
            throw .damaged(
                "The file is not the one that the manifest lists, but of another copy of the store.", managed.path, 0)
        }
        try checkLength(of: managed, entry)
        return managed
    }

    /// Checks the length of a file of a kind with a required length.
    ///
    /// Blob segments and cold segments may lack bytes whose write failed, which were abandoned.
    private func checkLength(of managed: ManagedFile, _ entry: ManifestState.FileEntry) throws(LogError) {
        guard entry.kind == .hotSegment || !entry.kind.isSegment && entry.seal != nil else { return }
        let length = try onDisk("measuring a file") { () throws(DiskError) in try managed.file.byteCount() }
        guard entry.kind == .hotSegment else {
            if length == entry.seal?.end { return }
            throw .damaged("The file has another length than it had.", managed.path)
        }
        let durable = max(entry.seal?.end ?? 0, entry.durable)
        guard length >= durable else {
            throw .damaged(
                "The segment was cut off: it has \(length) bytes, and \(durable) had been synchronized.", managed.path,
                length)
        }
    }

    /// Opens a file and checks its header.
    func open(_ kind: FileKind, _ number: UInt64, for access: FileAccess) throws(LogError) -> ManagedFile {
        let target = path(kind, number)
        let file: DiskFile
        do {
            file = try disk.open(target, for: access)
        } catch {
            if error.code == .notFound {
                throw LogError(
                    .damaged, "A file that the manifest lists is missing. \(LogError.damageRemedy)", path: target,
                    cause: error)
            }
            throw LogError(error, doing: "opening a file")
        }
        let header = try Self.readHeader(of: file)
        guard header.kind == kind, header.fileNumber == number, header.storeID == (storeID.high, storeID.low) else {
            throw .damaged("The file belongs to another store or has another number.", target, 0)
        }
        return managed(file, header)
    }

    /// Reads a file's header.
    package static func readHeader(of file: DiskFile) throws(LogError) -> FileHeader {
        try withUnsafeTemporaryAllocation(byteCount: FileHeader.byteCount, alignment: 8) { (bytes) throws(LogError) in
            let count = try onDisk("reading a file's header") { () throws(DiskError) in
                try file.read(into: bytes, at: 0)
            }
            guard count == FileHeader.byteCount, let start = bytes.baseAddress else {
                throw .damaged("The file is shorter than its header.", file.path, 0)
            }
            do throws(FormatFault) {
                return try FileHeader(reading: start)
            } catch {
                if case .newerFormat = error {
                    throw .newerFormat("The file is", file.path)
                }
                throw .damaged("The file's header \(error.sentence).", file.path, 0)
            }
        }
    }

    func synchronize(site: SyncSite) throws(LogError) {
        try onDisk("making a directory entry durable") { () throws(DiskError) in
            try disk.synchronizeDirectory(path, site: site)
        }
    }

    // MARK: Open files

    /// Makes this process the only one that removes files, each after its last use.
    func own() {
        do throws(DiskError) { fileSystem = try disk.fileSystem(of: path) } catch { return }
        if fileSystem?.keepsIdentities == true { resting = RestingFiles() }
    }

    /// Allows the process to close a file while no call uses it.
    ///
    /// All of it is durable, and nothing more is written to it.
    func letRest(_ managed: ManagedFile) {
        if let resting { managed.file.mayRest(with: resting) }
    }

    /// Keeps the files open from now on that are in use: another process may remove them.
    func disown() { resting?.end() }

    /// Reports to the observer, once, that more files stay open than the process's limit has room for.
    func noteOpenFiles() {
        if watch.isObserved, let count = disk.takeOpenFileExcess() { watch.note(.openFilesExceedLimit(count)) }
    }

    // MARK: Space

    /// Records that an operation was refused for lack of space; the oldest past states give way to the next one.
    func noteFull(_ error: LogError) {
        if error.cause?.code != .fileTooLarge { unneeded?.giveWay() }
        watch.noteFull(error, freeByteCount: freeByteCount)
    }

    /// Records a write after a refusal for lack of space.
    func noteWritten() { watch.noteWritten(freeByteCount: freeByteCount) }

    private var freeByteCount: UInt64? {
        do throws(DiskError) { return try disk.freeByteCount(in: path) } catch { return nil }
    }

    /// Whether a file is still in use, listed or not.
    package func isInUse(_ number: UInt64) -> Bool { removals.isOpen(number) }

    /// Removes unneeded files, but for those that states of the past need.
    ///
    /// - Parameter mayMove: Whether to move these now; false under the writer lock, where a later call moves them.
    package func removeUnneededFiles(mayMove: Bool = true) {
        remove(removals.takeAll(), mayMove: mayMove)
    }

    func remove(_ paths: [String], mayMove: Bool = true) {
        for path in unneeded?.take(paths, mayMove: mayMove) ?? paths { remove(path) }
    }

    /// Removes an unneeded file; if that fails, the next opening of the store removes it.
    func remove(_ path: String) {
        do { try disk.remove(path) } catch { return }
    }
}

/// Random numbers: the system's, or a repeatable series.
// Safe because mutable state is guarded by the lock.
package final class RandomSource: @unchecked Sendable {
    private let lock = EngineLock()
    private var state: UInt64?

    package init(seed: UInt64?) {
        state = seed
    }

    func next() -> UInt64 {
        lock.lock()
        defer { lock.unlock() }
        guard let seed = state else {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        // SplitMix64 (Steele, Lea, Flood 2014).
        let next = seed &+ 0x9E37_79B9_7F4A_7C15
        state = next
        var z = next
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
