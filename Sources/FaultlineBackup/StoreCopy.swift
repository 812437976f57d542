package import FaultlineDisk
internal import FaultlineLog

/// A copy of a store in a directory beside it, for a dry run or a backup while the store is in use.
///
/// Files that do not change any more get a second entry, which takes no space; the end of the log and the other files
/// in use are copied. The writer of the store does not know of it and is not delayed: `docs/FileFormat.md` section 16.
package struct StoreCopy {
    /// The directory of the copy: that of the store, with the purpose behind its name.
    package let directory: String
    private let purpose: StoreCopyPurpose
    private let disk: Disk
    private let source: String
    /// The store's LOCK, of which a byte is held until the copy is removed.
    private let held: DiskFile

    /// The number of attempts while a writer changes the files that are copied.
    private static let attemptCountMax = 100

    /// Copies the state of a store at this moment: as a kill of its writer would leave it.
    ///
    /// The remains of a copy that was interrupted are removed first.
    ///
    /// - Parameters:
    ///   - source: The directory of the store.
    ///   - purpose: The use of the copy; one copy for each is possible at a time.
    ///   - disk: The disk of the store.
    ///   - clock: The clock for the lock's text.
    ///   - checksSpace: Whether a copy is refused that the disk has too little room for.
    /// - Returns: The copy. A lock protects it from others of its purpose until it is removed.
    /// - Throws: `StoreCopyError` if another copy is there, if a directory of other files is in the way, if there is too
    ///   little room; `LogError` if the store cannot be read, its LOCK cannot be opened for writing, or the copy cannot
    ///   be written.
    /// - Complexity: O(f) for f files, and the bytes of those in use; all bytes where there are no hard links. The log
    ///   since the newest checkpoint too, if the writer changes its manifest meanwhile.
    package static func make(
        of source: String, for purpose: StoreCopyPurpose, on disk: Disk, clock: Clock, checksSpace: Bool = true
    ) throws -> StoreCopy {
        let source = DirectoryPath.trimmed(source)
        let directory = source + purpose.suffix
        let copy = StoreCopy(
            directory: directory, purpose: purpose, disk: disk, source: source,
            held: try hold(source, for: purpose, on: disk))
        let lock: StoreLock
        do { lock = try copy.claim(clock) } catch {
            copy.release()
            throw error
        }
        do {
            try copy.fill(checksSpace)
            lock.release()
        } catch {
            lock.release()
            copy.remove()
            throw error
        }
        return copy
    }

    /// Checks that the copy was not removed by hand: opening would make an empty store there.
    ///
    /// - Throws: `StoreCopyError.removed`; `LogError` if the disk fails.
    package func checkPresence() throws {
        let isPresent = try onDisk("looking for the copy of a \(purpose.noun)") { () throws(DiskError) in
            try disk.isPresent(directory + "/" + FileName.identity)
        }
        guard isPresent else { throw StoreCopyError.removed(directory, purpose) }
    }

    /// Removes the copy; another one can be made then.
    package func remove() {
        // The next copy removes the rest.
        try? clear()
        try? disk.removeDirectory(directory)
        release()
    }

    // MARK: The lock

    /// Takes the lock of copies for a purpose, in the store's LOCK: that file is never removed.
    private static func hold(_ source: String, for purpose: StoreCopyPurpose, on disk: Disk) throws -> DiskFile {
        let file = try openLock(source, on: disk)
        do {
            let isTaken = try onDisk("locking out each other \(purpose.noun)") { () throws(DiskError) in
                try file.lock(byte: purpose.lockByte, exclusively: true)
            }
            guard isTaken else { throw StoreCopyError.underWay(source + purpose.suffix, purpose) }
            return file
        } catch {
            file.close()
            throw error
        }
    }

    private static func openLock(_ source: String, on disk: Disk) throws(LogError) -> DiskFile {
        let path = source + "/" + FileName.lock
        return try onDisk("opening the store's lock") { () throws(DiskError) in
            do throws(DiskError) { return try disk.open(path, for: .updating) } catch {
                // A copy of a store may lack the file.
                guard error.code == .notFound, try disk.isPresent(source + "/" + FileName.identity) else { throw error }
                return try disk.openOrCreate(path)
            }
        }
    }

    private func release() {
        try? held.unlock(byte: purpose.lockByte)
        held.close()
    }

    // MARK: The directory

    /// Makes the directory, empty but for its lock, which is held.
    private func claim(_ clock: Clock) throws -> StoreLock {
        try onDisk("making the directory of a \(purpose.noun)") { () throws(DiskError) in
            if try !disk.isPresent(directory) {
                try disk.createDirectory(directory)
                // The store's directory may keep other users out.
                disk.restrictToOwner(directory)
            }
        }
        // Checked first: taking the lock makes a file.
        let found = try names()
        if let marker = purpose.marker, !found.contains(marker) {
            try onDisk("marking the directory of a \(purpose.noun)") { () throws(DiskError) in
                do throws(DiskError) {
                    try disk.open(directory + "/" + marker, for: .creating).close()
                } catch {
                    guard error.code == .exists else { throw error }
                }
            }
        }
        let lock: StoreLock
        do throws(LogError) {
            lock = try StoreLock.take(directory + "/" + FileName.lock, on: disk, for: .writing, clock: clock)
        } catch {
            guard error.code == .lockedByAnother else { throw error }
            throw StoreCopyError.underWay(directory, purpose)
        }
        do { try clear(except: kept) } catch {
            lock.release()
            throw error
        }
        return lock
    }

    /// The names of the files in the directory.
    ///
    /// - Throws: `StoreCopyError.foreignFile` if one of them belongs to no copy.
    private func names() throws -> [String] {
        let names = try onDisk("listing the directory of a \(purpose.noun)") { () throws(DiskError) in
            try disk.names(in: directory)
        }
        let hasMarker = purpose.marker.map(names.contains) ?? true
        if let foreign = names.first(where: { !hasMarker || $0 != purpose.marker && !FileName.isOfStore($0) }) {
            throw StoreCopyError.foreignFile(foreign, directory, purpose)
        }
        return names
    }

    /// The names of the files that are no copies.
    private var kept: Set<String> { purpose.marker.map { [$0, FileName.lock] } ?? [FileName.lock] }

    private func clear(except kept: Set<String> = []) throws {
        // The marker is the last one: without it the others could not be removed later.
        for name in try names().sorted(by: { $1 == purpose.marker && $0 != $1 }) where !kept.contains(name) {
            try onDisk("removing the copy of a \(purpose.noun)") { () throws(DiskError) in
                try disk.remove(directory + "/" + name)
            }
        }
    }

    // MARK: The files

    private func fill(_ checksSpace: Bool) throws {
        // Files that do not change any more are copied once, however often the others change.
        var complete: Set<String> = []
        for _ in 0..<Self.attemptCountMax {
            let isUnchanged = try copyFiles(checksSpace, &complete)
            if isUnchanged { return }
        }
        throw LogError(
            .lockedByAnother, "Another process changed the store each time that it was copied. Try again.",
            path: source)
    }

    /// A manifest at a moment: the files that it lists exist as long as it is in force and has that length.
    private struct Mark: Equatable {
        let name: String
        let byteCount: UInt64
    }

    /// The manifest in force, and its length.
    ///
    /// - Returns: Nil if it was written to, or replaced, while it was read.
    private func readManifest(_ directory: StoreDirectory) throws(LogError) -> (mark: Mark, state: ManifestState)? {
        guard let before = try newestManifest(directory)?.predecessor.managed else { return nil }
        func byteCount() throws(LogError) -> UInt64 {
            try onDisk("measuring a manifest") { () throws(DiskError) in try before.file.byteCount() }
        }
        let length = try byteCount()
        guard let reading = try newestManifest(directory), reading.predecessor.managed.number == before.number,
            try byteCount() == length
        else { return nil }
        return (Mark(name: FileName.numbered(.manifest, before.number), byteCount: length), reading.state)
    }

    /// - Returns: Nil if the manifests changed while they were read.
    private func newestManifest(_ directory: StoreDirectory) throws(LogError) -> ManifestReader.Reading? {
        let numbers = try manifests()
        do throws(LogError) {
            if let reading = try ManifestReader.newest(numbers, in: directory, for: .reading) { return reading }
            throw LogError(.damaged, "The store has no manifest.", path: source)
        } catch {
            // One that was listed may have been replaced before it was opened.
            guard error.code == .damaged, try manifests() != numbers else { throw error }
            return nil
        }
    }

    private func manifests() throws(LogError) -> [UInt64] {
        FileName.manifests(
            among: try onDisk("listing the store's directory") { () throws(DiskError) in try disk.names(in: source) })
    }

    /// - Parameters:
    ///   - checksSpace: Whether it is refused if there is too little room.
    ///   - complete: The files of earlier attempts that do not change any more.
    /// - Returns: False if the store's files changed in the meantime.
    /// - Throws: `fullDisk`; `LogError` if the store cannot be read, or the copy cannot be written.
    private func copyFiles(_ checksSpace: Bool, _ complete: inout Set<String>) throws -> Bool {
        guard let identity = try IdentityFile.read(source + "/" + FileName.identity, on: disk) else {
            throw LogError(.notAStore, "There is no store in this directory.", path: source)
        }
        let directory = StoreDirectory(
            disk: disk, path: source, storeID: identity.storeID,
            nextNumber: 1, random: RandomSource(seed: 0))
        guard let (mark, state) = try readManifest(directory) else { return false }
        complete.formIntersection(state.files.map { FileName.numbered($0.value.kind, $0.key) })
        try clear(except: complete.union(kept))
        var segments = OpenSegments(of: source, on: disk)
        defer { segments.close() }
        let manifest: DiskFile
        do {
            if checksSpace { try checkSpace(for: state, except: complete) }
            try linkFiles(of: state, &complete)
            try segments.open(state, in: directory)
            manifest = try openForReading(mark.name)
        } catch {
            // A listed file was dropped meanwhile, if the manifest is another now.
            guard try readManifest(directory)?.mark == mark else { return false }
            throw error
        }
        defer { manifest.close() }
        // From here on the store may change: open files stay readable when their names are gone.
        let isUnchanged = try readManifest(directory)?.mark == mark
        for segment in segments.all { try copyStart(of: segment.file, segment.name, segment.end) }
        guard try isUnchanged || cutBeforeMissingValues(state, identity) else { return false }
        try copyStart(of: manifest, mark.name, mark.byteCount)
        // The last file: its feature bits are those of all others.
        try onDisk("copying the identity") { () throws(DiskError) in
            try disk.copy(source + "/" + FileName.identity, to: self.directory + "/" + FileName.identity)
        }
        return true
    }

    /// Cuts the copied log before the first transaction with a value in a segment that was begun since the state.
    ///
    /// - Returns: False if the log goes on in another segment than the one that ends it.
    private func cutBeforeMissingValues(_ state: ManifestState, _ identity: Identity) throws(LogError) -> Bool {
        let copied = StoreDirectory(
            disk: disk, path: directory, storeID: identity.storeID, nextNumber: 1, random: RandomSource(seed: 0))
        let walk = LogWalk(copied, state)
        guard let start = walk.start() else { return false }
        let search = try LogSearch(of: .newest, in: walk, from: start) { placed, _ in
            placed.allSatisfy { state.files[$0] != nil }
        }
        guard search.lacksValues else { return true }
        guard search.found.segment == state.numbers(of: .hotSegment).last else { return false }
        try onDisk("cutting a copied segment") { () throws(DiskError) in
            let file = try disk.open(
                directory + "/" + FileName.numbered(.hotSegment, search.found.segment), for: .updating)
            defer { file.close() }
            try file.cut(to: search.found.offset)
        }
        return true
    }

    /// Refuses a copy that the disk has no room for: the service that has the store open needs it.
    private func checkSpace(for state: ManifestState, except complete: Set<String>) throws {
        let links = try hasLinks()
        var sum: UInt64 = 0
        for (number, entry) in state.files where !links || entry.seal == nil && entry.kind.isSegment {
            let name = FileName.numbered(entry.kind, number)
            if complete.contains(name) { continue }
            let byteCount = try onDisk("measuring a file") { () throws(DiskError) in
                try disk.byteCount(of: source + "/" + name)
            }
            let (total, isOver) = sum.addingReportingOverflow(byteCount)
            sum = isOver ? .max : total
        }
        let (needed, isOver) = sum.addingReportingOverflow(sum / 10)
        let free = try onDisk("measuring the free space") { () throws(DiskError) in
            try disk.freeByteCount(in: directory)
        }
        guard isOver || needed > free else { return }
        throw StoreCopyError.noRoom(
            directory, needed: isOver ? .max : needed, free: free, forFilesInUse: links)
    }

    /// Whether files of the store can have a second entry in the copy's directory; tries it out.
    private func hasLinks() throws(LogError) -> Bool {
        let identity = source + "/" + FileName.identity
        let probe = directory + "/" + FileName.identityBeingWritten
        return try onDisk("linking a file") { () throws(DiskError) in
            try disk.link(identity, to: probe)
            let isLinked = try disk.identity(of: probe) == disk.identity(of: identity)
            try disk.remove(probe)
            return isLinked
        }
    }

    private func linkFiles(of state: ManifestState, _ complete: inout Set<String>) throws(LogError) {
        let files = state.files.sorted { $0.key < $1.key }
        for (number, entry) in files where entry.seal != nil || !entry.kind.isSegment {
            let name = FileName.numbered(entry.kind, number)
            if complete.contains(name) { continue }
            try onDisk("linking a file") { () throws(DiskError) in
                try disk.link(source + "/" + name, to: self.directory + "/" + name)
            }
            complete.insert(name)
        }
    }

    private func openForReading(_ name: String) throws(LogError) -> DiskFile {
        try onDisk("opening a file of the store") { () throws(DiskError) in
            try disk.open(source + "/" + name, for: .reading)
        }
    }

    /// Copies the bytes of a file before an offset.
    private func copyStart(of reading: DiskFile, _ name: String, _ end: UInt64) throws(LogError) {
        try onDisk("copying a file") { () throws(DiskError) in
            let writing = try disk.open(directory + "/" + name, for: .creating)
            defer { writing.close() }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            var offset: UInt64 = 0
            while offset < end {
                let part = UnsafeMutableRawBufferPointer(
                    rebasing: buffer[..<Int(min(UInt64(buffer.count), end - offset))])
                let byteCount = try reading.read(into: part, at: offset)
                guard byteCount > 0 else { return }
                try writing.write(UnsafeRawBufferPointer(rebasing: part[..<byteCount]), at: offset)
                offset += UInt64(byteCount)
            }
        }
    }
}
