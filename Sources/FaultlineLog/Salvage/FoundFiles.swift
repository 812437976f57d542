import FaultlineDisk

/// The numbered files in a damaged store's directory, sorted into those that can be read and those that are lost.
struct FoundFiles {
    let directory: StoreDirectory
    /// Whether compaction may have dropped segments.
    let isCompacted: Bool
    private(set) var facts = ManifestFacts()
    private(set) var segments: [ManagedFile] = []
    private(set) var lost: [LostRange] = []
    private(set) var remarks: [SalvageRemark] = []

    /// A file by its name, and its header if that verifies.
    private struct File {
        let name: String
        let kind: FileKind
        let number: UInt64
        let file: DiskFile
        let byteCount: UInt64
        let header: FileHeader?
    }

    /// Opens the manifests and segments among `names`.
    ///
    /// - Throws: `.notAStore` if there is none; `.newerFormat`; what the disk says.
    init(_ path: String, _ names: [String], on disk: Disk) throws(LogError) {
        var files: [File] = []
        /// Why the first segment could not be opened.
        var failure: LogError?
        for name in names {
            guard let (kind, number) = FileName.parse(name), kind == .manifest || kind.isSegment else { continue }
            do throws(LogError) {
                files.append(try Self.open(path + "/" + name, name, kind, number, on: disk))
            } catch {
                guard error.code != .newerFormat else { throw error }
                if kind.isSegment, failure == nil { failure = error }
                lost.append(LostRange(path: path + "/" + name, offset: 0, byteCount: 0, reason: error.message))
            }
        }
        guard files.contains(where: { $0.kind.isSegment }) else {
            // There are segments, and none of them could be opened: that is another trouble.
            if let failure { throw failure }
            throw LogError(
                .notAStore, "The directory has no segment of a store, so there is nothing to salvage.", path: path)
        }
        let identity = try Self.identity(path, on: disk)
        if identity == nil {
            remarks.append(
                SalvageRemark(
                    path: path + "/" + FileName.identity, text: "The store's identity is missing or does not verify."))
        }
        let storeID =
            identity.map { StoreID(high: $0.storeHigh, low: $0.storeLow) }
            ?? Self.mostFrequent(files.compactMap(\.header)) ?? StoreID(high: 0, low: 0)
        isCompacted =
            identity.map { $0.incompatible & Feature.compaction != 0 } ?? files.contains { $0.kind == .coldSegment }
        directory = StoreDirectory(
            disk: disk, path: path, storeID: storeID, nextNumber: 1, random: RandomSource(seed: 0))
        try readManifests(files)
        for file in files where file.kind.isSegment { try take(file) }
        noteMissing()
    }

    private static func open(
        _ path: String, _ name: String, _ kind: FileKind, _ number: UInt64, on disk: Disk
    ) throws(LogError) -> File {
        let file = try onDisk("opening a file") { () throws(DiskError) in try disk.open(path, for: .reading) }
        let byteCount = try onDisk("measuring a file") { () throws(DiskError) in try file.byteCount() }
        var header: FileHeader?
        do throws(LogError) {
            header = try StoreDirectory.readHeader(of: file)
        } catch {
            guard error.code == .damaged || error.code == .failedDisk else { throw error }
        }
        return File(name: name, kind: kind, number: number, file: file, byteCount: byteCount, header: header)
    }

    private static func identity(_ path: String, on disk: Disk) throws(LogError) -> Identity? {
        do throws(LogError) {
            return try IdentityFile.read(path + "/" + FileName.identity, on: disk)
        } catch {
            if error.code == .newerFormat { throw error }
            return nil
        }
    }

    /// The store that most files belong to.
    private static func mostFrequent(_ headers: [FileHeader]) -> StoreID? {
        var counts: [StoreID: Int] = [:]
        for header in headers { counts[StoreID(high: header.storeHigh, low: header.storeLow), default: 0] += 1 }
        return counts.max { ($0.value, $1.key.high, $1.key.low) < ($1.value, $0.key.high, $0.key.low) }?.key
    }

    private func isOurs(_ header: FileHeader) -> Bool {
        header.storeHigh == directory.storeID.high && header.storeLow == directory.storeID.low
    }

    private func managed(_ file: File, _ header: FileHeader) -> ManagedFile {
        ManagedFile(
            header: header, file: file.file, isListed: true, removals: directory.removals, damage: directory.damage,
            watch: directory.watch)
    }

    private mutating func readManifests(_ files: [File]) throws(LogError) {
        for file in files.filter({ $0.kind == .manifest }).sorted(by: { $0.number < $1.number }) {
            guard let header = file.header, header.kind == .manifest, isOurs(header) else { continue }
            try facts.read(managed(file, header))
        }
        if facts.known.isEmpty {
            remarks.append(
                SalvageRemark(
                    path: directory.path,
                    text: "No manifest can be read, so nothing tells whether files are missing behind the last."))
        }
    }

    private mutating func take(_ file: File) throws(LogError) {
        guard let header = try header(of: file) else {
            return lose(file, file.byteCount, "The file's header does not verify, and no manifest says what it was.")
        }
        guard isOurs(header), header.kind == file.kind,
            UInt32(truncatingIfNeeded: header.fileNumber) != 0
        else {
            return lose(file, file.byteCount, "The file is of another store, or of another kind.")
        }
        if facts.dropped.contains(header.fileNumber) { return }
        if let listed = facts.known[header.fileNumber], listed.salt != header.salt {
            return lose(file, file.byteCount, "The file is of another copy of the store.")
        }
        guard !isTaken(header.fileNumber) else {
            return lose(file, file.byteCount, "Another file has the same number.")
        }
        segments.append(managed(file, header))
    }

    /// The header of a segment: its own, or what a manifest says of its name where that one does not verify, or is not
    /// the one that the segment was written with.
    private mutating func header(of file: File) throws(LogError) -> FileHeader? {
        guard file.header?.fileNumber != file.number, let listed = facts.known[file.number], listed.kind == file.kind
        else { return file.header }
        let other = FileHeader(
            kind: listed.kind, storeID: (directory.storeID.high, directory.storeID.low), fileNumber: listed.number,
            salt: listed.salt, generation: listed.generation)
        if let own = file.header, try !holdsFrames(file, other) { return own }
        remarks.append(
            SalvageRemark(path: file.file.path, text: "The file's header is lost; a manifest still says what it was."))
        return other
    }

    /// Whether anything in the file verifies under a header.
    private func holdsFrames(_ file: File, _ header: FileHeader) throws(LogError) -> Bool {
        // Opened once more, because it is closed with what holds it.
        let again = try onDisk("opening a file") { () throws(DiskError) in
            try directory.disk.open(file.file.path, for: .reading)
        }
        let held = ManagedFile(
            header: header, file: again, isListed: true, removals: directory.removals, damage: directory.damage,
            watch: directory.watch)
        var scanner = LenientScanner(held, from: UInt64(FileHeader.byteCount), limit: max(file.byteCount, 64))
        while let piece = try scanner.next() {
            if case .frame = piece { return true }
        }
        return false
    }

    private mutating func lose(_ file: File, _ byteCount: UInt64, _ reason: String) {
        lost.append(LostRange(path: file.file.path, offset: 0, byteCount: byteCount, reason: reason))
    }

    /// Locations name files by the low 32 bits of their number.
    private func isTaken(_ number: UInt64) -> Bool {
        segments.contains { UInt32(truncatingIfNeeded: $0.number) == UInt32(truncatingIfNeeded: number) }
    }

    /// Segments that the newest manifest lists, and that are not there.
    private mutating func noteMissing() {
        let present = Set(segments.map(\.number))
        for (number, file) in facts.files.sorted(by: { $0.key < $1.key })
        where file.kind.isSegment && !present.contains(number) {
            let path = directory.path(file.kind, number)
            guard !lost.contains(where: { $0.path == path }) else { continue }
            lost.append(
                LostRange(
                    path: path, offset: 0, byteCount: facts.ends[number] ?? 0,
                    reason: "The manifest lists this file, which is missing."))
        }
    }
}
