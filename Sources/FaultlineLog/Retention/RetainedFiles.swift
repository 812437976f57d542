import FaultlineDisk
import Synchronization

/// Keeps the files that states of the past need after compaction: `docs/format/Retained.md`.
///
/// Before a checkpoint drops segments, a listing of the store's files is written to the folder `retained/`. A file that
/// a listing names goes there when the store does not need it any more, and is removed when the window has passed.
///
/// Losing the folder, or a part of it, loses states of the past only: an error there ends the window until the next
/// opening, and nothing else.
///
/// Concurrency: all members may be called from any thread.
// Safe because mutable state is guarded by the lock.
final class RetainedFiles: UnneededFiles, @unchecked Sendable {
    /// Free bytes of the file system, at least, or the oldest states go.
    private static let freeByteCountMin: UInt64 = 64 << 20

    private let window: RetentionWindow
    // The directory owns this object: a strong reference would keep both, with their open files.
    private unowned let store: StoreDirectory
    private let folder: String
    private let chain = Guarded(RetainedChain())

    private var disk: Disk { store.disk }

    // MARK: Opening

    /// Opens the folder of a store that is open for writing.
    ///
    /// - Parameters:
    ///   - store: The directory of the store.
    ///   - names: The names of its files.
    ///   - state: The state of its manifest.
    ///   - wanted: The window from now on; nil for that of the store.
    ///   - now: The time.
    /// - Returns: Nil if there is nothing to keep, and nothing to remove; with `failure` if the folder cannot be used.
    static func open(
        of store: StoreDirectory, _ names: [String], _ state: ManifestState, window wanted: RetentionWindow?, now: Int64
    ) -> RetainedFiles? {
        let hasFolder = names.contains(FileName.retained)
        guard hasFolder || wanted?.isNone == false else { return nil }
        let folder = store.path(of: FileName.retained)
        do throws(LogError) {
            let stored = hasFolder ? try RetentionWindow.read(in: folder, on: store.disk) : nil
            let window = wanted ?? stored ?? .none
            if window.isNone {
                removeAll(in: store.path, on: store.disk)
                return nil
            }
            if !hasFolder {
                try onDisk("making the folder for states of the past") { () throws(DiskError) in
                    try store.disk.createDirectory(folder)
                    try store.disk.synchronizeDirectory(store.path, site: "retention.folder")
                }
            }
            if window != stored { try window.write(in: folder, on: store.disk) }
            let files = RetainedFiles(store, folder, window)
            try files.read(names, state, now: now)
            return files
        } catch {
            let files = RetainedFiles(store, folder, .none)
            files.chain.withLock { $0.failure = error }
            return files
        }
    }

    private init(_ store: StoreDirectory, _ folder: String, _ window: RetentionWindow) {
        self.store = store
        self.folder = folder
        self.window = window
    }

    /// Reads the listings; removes those that name files which are not there any more, or do not verify, and all before
    /// them, and files that no listing names.
    private func read(_ names: [String], _ state: ManifestState, now: Int64) throws(LogError) {
        var present = Set(names.compactMap { FileName.parse($0)?.number })
        var chain = RetainedChain()
        let own = try onDisk("listing the files of the past") { () throws(DiskError) in try disk.names(in: folder) }
        for name in own {
            guard let (kind, number) = FileName.parse(name), kind != .manifest else { continue }
            present.insert(number)
            chain.held[number] = (name, try byteCount(of: name))
        }
        var broken: [UInt64] = []
        let listings = try RetainedListing.all(in: store.retainedFolder()) { number, _ in broken.append(number) }
        for listing in listings where !listing.state.files.keys.allSatisfy(present.contains) {
            broken.append(listing.number)
        }
        // A call of the folder failed, and a segment was dropped without a listing.
        if let end = listings.last, !RetainedListing.areContinued(listings, by: state) { broken.append(end.number) }
        let last = broken.max() ?? 0
        for listing in listings where listing.number > last {
            let name = FileName.numbered(.manifest, listing.number)
            chain.entries.append(RetainedChain.Entry(listing, byteCount: try byteCount(of: name), now: now))
            // The manifest may not have its number. All other files there have lower ones, or are removed.
            store.raiseNextFileNumber(to: listing.number + 1)
        }
        let kept = Set(chain.entries.map(\.number))
        try removeListings(FileName.manifests(among: own).filter { !kept.contains($0) })
        chain.countWanted()
        for (number, file) in chain.held where !chain.wanted.contains(number) {
            try onDisk("removing a file of the past") { () throws(DiskError) in
                try disk.remove(folder + "/" + file.name)
            }
            chain.held[number] = nil
        }
        self.chain.withLock { [chain] in $0 = chain }
    }

    // MARK: Figures

    /// Bytes of the folder, without its window.
    var byteCount: UInt64 { chain.withLock { $0.byteCount } }

    /// The error that ended the window.
    var failure: LogError? { chain.withLock { $0.failure } }

    private var isEmpty: Bool { chain.withLock { $0.entries.isEmpty } }

    private func byteCount(of name: String) throws(LogError) -> UInt64 {
        try onDisk("measuring a file of the past") { () throws(DiskError) in
            try disk.byteCount(of: folder + "/" + name)
        }
    }

    // MARK: Keeping

    /// Writes a listing before a checkpoint drops segments, or the tables from which the states behind them are built;
    /// durable when this returns.
    ///
    /// An error ends the window; on a full disk the states so far.
    ///
    /// - Parameters:
    ///   - state: The state of the manifest before the checkpoint.
    ///   - dropped: The segments.
    ///   - newest: The newest transaction, which is durable.
    ///   - now: The time.
    ///   - checkpointByteCount: The bytes of log between two checkpoints.
    ///   - noteFeature: Records in IDENTITY that the store has listings.
    func keep(
        _ state: ManifestState, dropping dropped: Set<UInt64>, newest: UInt64, now: Int64, checkpointByteCount: Int,
        noteFeature: () throws(LogError) -> Void
    ) {
        guard failure == nil, !dropped.isEmpty || chain.withLock({ $0.needsTables(of: state) }) else { return }
        var listed = state
        // Files that the folder does not have are not there to be removed.
        listed.dropped = []
        let areTablesDue = chain.withLock { [listed, window] in
            $0.areTablesDue(listed, now: now, window, checkpointByteCount: UInt64(max(checkpointByteCount, 1)))
        }
        if !areTablesDue {
            guard let rest = chain.withLock({ [listed] in $0.continuation(listed, dropped) }) else { return }
            listed = rest
        }
        do throws(LogError) {
            if isEmpty { try noteFeature() }
            let number = try store.takeFileNumber()
            let byteCount = try write(listed, newest: newest, number: number)
            let listing = RetainedListing(number: number, state: listed, newest: newest)
            let entry = RetainedChain.Entry(listing, byteCount: byteCount, now: now)
            chain.withLock { $0.append(entry) }
        } catch {
            if error.code == .fullDisk { remove(through: \.count) } else { stop(error) }
        }
    }

    /// Writes a listing, and gives back the space that a manifest reserves for edits.
    private func write(_ state: ManifestState, newest: UInt64, number: UInt64) throws(LogError) -> UInt64 {
        let directory = store.retainedFolder(next: number)
        directory.progress.begin(at: newest)
        _ = try Manifest(state, in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: nil)
        return try onDisk("writing a listing of the past") { () throws(DiskError) in
            let file = try disk.open(directory.path(.manifest, number), for: .updating)
            defer { file.close() }
            try file.releaseReserve()
            return try file.byteCount()
        }
    }

    /// Ends the window until the next opening, which finds that files of the listings are missing.
    private func stop(_ error: LogError) {
        chain.withLock { $0.failure = error }
        store.watch.note(.pastStatesLost(error))
        remove(through: \.count)
    }

    // MARK: Files

    func take(_ paths: [String], mayMove: Bool) -> [String] {
        let (wanted, waiting) = chain.withLock { chain in
            defer { chain.waiting = [] }
            return (chain.wanted, chain.waiting)
        }
        var rest: [String] = []
        var later: [String] = []
        var linked: [(path: String, name: String, number: UInt64)] = []
        for path in waiting + paths {
            let name = String(path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...])
            guard let number = FileName.parse(name)?.number, wanted.contains(number) else {
                rest.append(path)
                continue
            }
            do throws(DiskError) {
                guard mayMove else {
                    later.append(path)
                    continue
                }
                try link(path, to: folder + "/" + name)
                linked.append((path, name, number))
            } catch {
                // The file is removed by a later call, once no listing names it.
                if error.isAboutSpace { giveWay() }
                if error.code != .notFound { later.append(path) }
            }
        }
        if !linked.isEmpty {
            // Only then may their entries in the store's directory go.
            do throws(DiskError) { try disk.synchronizeDirectory(folder, site: "retention.taken") } catch {
                later += linked.map(\.path)
                linked = []
            }
        }
        for (path, name, number) in linked {
            do throws(DiskError) {
                let byteCount = try disk.byteCount(of: path)
                chain.withLock { $0.held[number] = (name, byteCount) }
                try disk.remove(path)
            } catch {
                if error.code != .notFound { later.append(path) }
            }
        }
        chain.withLock { [later] in $0.waiting += later }
        return rest
    }

    /// Gives a file a second entry; its bytes are durable there too.
    private func link(_ path: String, to target: String) throws(DiskError) {
        if try disk.isPresent(target) {
            if try disk.identity(of: target) == disk.identity(of: path) { return }
            // The beginning of a copy.
            try disk.remove(target)
        }
        try disk.link(path, to: target)
        guard try disk.identity(of: target) != disk.identity(of: path) else { return }
        let copy = try disk.open(target, for: .updating)
        defer { copy.close() }
        try copy.synchronize(site: "retention.copy")
    }

    // MARK: Removing

    /// Removes the files that no state of the window needs.
    ///
    /// A failure leaves them to the next call.
    ///
    /// - Parameters:
    ///   - state: The state of the manifest.
    ///   - now: The time.
    func prune(_ state: ManifestState, now: Int64) {
        guard !isEmpty else { return }
        let (begin, isOver) = now.subtractingReportingOverflow(window.nanoseconds)
        if !isOver {
            let checkpoint = state.checkpoint
            let isPassed = checkpoint?.file ?? 0 != 0 && (checkpoint?.wallNanoseconds ?? .max) <= begin
            remove(through: { entries in
                isPassed ? entries.count : entries.lastIndex { $0.hasTables && $0.nanoseconds <= begin } ?? 0
            })
        }
        while !isEmpty, byteCount > window.byteCount || isDiskNearlyFull {
            guard removeOldest() else { return }
        }
    }

    private var isDiskNearlyFull: Bool {
        do throws(DiskError) { return try disk.freeByteCount(in: folder) < Self.freeByteCountMin } catch {
            return false
        }
    }

    /// Removes the oldest states, until a file is removed.
    @discardableResult
    func giveWay() -> Bool {
        let before = chain.withLock { $0.heldByteCount }
        while chain.withLock({ $0.heldByteCount }) >= before, !isEmpty {
            guard removeOldest() else { return false }
        }
        return chain.withLock { $0.heldByteCount } < before
    }

    /// Removes the states up to the next kept tables; returns whether that was possible.
    private func removeOldest() -> Bool {
        remove(through: { entries in entries.dropFirst().firstIndex(where: \.hasTables) ?? entries.count })
    }

    /// Removes the states that have transactions behind one, whose numbers will be used again.
    ///
    /// - Throws: Disk errors; nothing may be written then, because readers may take the states for later ones.
    func remove(behind sequence: UInt64) throws(LogError) {
        let numbers = chain.withLock { $0.entries.filter { $0.newest > sequence }.map(\.number) }
        try forget(numbers)
    }

    @discardableResult
    private func remove(through end: ([RetainedChain.Entry]) -> Int) -> Bool {
        let numbers = chain.withLock { $0.entries.prefix(end($0.entries)).map(\.number) }
        do throws(LogError) { try forget(numbers) } catch { return false }
        return true
    }

    /// Removes listings, and the files that no other one names.
    private func forget(_ numbers: [UInt64]) throws(LogError) {
        guard !numbers.isEmpty else { return }
        try removeListings(numbers)
        let unneeded = chain.withLock { $0.forget(Set(numbers)) }
        for (number, file) in unneeded {
            do throws(DiskError) { try disk.remove(folder + "/" + file.name) } catch {
                // The next opening removes it.
                if error.code != .notFound { continue }
            }
            chain.withLock { $0.held[number] = nil }
        }
    }

    /// Removes listings; they cannot come back when this returns.
    private func removeListings(_ numbers: [UInt64]) throws(LogError) {
        guard !numbers.isEmpty else { return }
        try onDisk("removing a listing of the past") { () throws(DiskError) in
            for number in numbers {
                do throws(DiskError) { try disk.remove(folder + "/" + FileName.numbered(.manifest, number)) } catch {
                    if error.code != .notFound { throw error }
                }
            }
            try disk.synchronizeDirectory(folder, site: "retention.removal")
        }
    }

    /// Removes the window of a store, and its files, as far as that is possible.
    ///
    /// - Parameters:
    ///   - path: The directory of the store.
    ///   - disk: Its disk.
    /// - Returns: Whether a file was removed.
    @discardableResult
    static func removeAll(in path: String, on disk: Disk) -> Bool {
        let folder = path + "/" + FileName.retained
        var hasRemoved = false
        do throws(DiskError) {
            let names = try disk.names(in: folder)
            func isFirst(_ name: String) -> Bool { FileName.parse(name).map { $0.kind == .manifest } ?? true }
            // First the listings: no reader looks for files that are gone.
            for name in names.filter(isFirst) + names.filter({ !isFirst($0) }) {
                try disk.remove(folder + "/" + name)
                hasRemoved = true
            }
        } catch {
            return hasRemoved
        }
        return hasRemoved
    }
}
