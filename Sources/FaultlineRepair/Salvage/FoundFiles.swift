import FaultlineDisk
import FaultlineLog

/// The numbered files in a damaged store's directory, sorted into those that can be read and those that are lost.
struct FoundFiles {
    let directory: StoreDirectory
    /// Whether compaction may have dropped segments.
    let isCompacted: Bool
    private(set) var facts = ManifestFacts()
    private(set) var segments: [ManagedFile] = []
    private(set) var lost: [LostRange] = []
    private(set) var remarks: [SalvageRemark] = []

    /// A file that may be a manifest or a segment.
    private struct File {
        let name: String
        /// Kind and number by the name; nil for a name that no numbered file has.
        let named: (kind: FileKind, number: UInt64)?
        let file: DiskFile
        let byteCount: UInt64
        /// Nil if it does not verify.
        let header: FileHeader?

        /// Whether the header or the name says that it is a segment.
        var mayBeSegment: Bool { header?.kind.isSegment == true || named?.kind.isSegment == true }
        var isManifest: Bool { header?.kind == .manifest }

        /// Whether the header verifies and matches the name.
        var isNamedAsItIs: Bool {
            guard let header, let named else { return false }
            return named == (header.kind, header.fileNumber)
        }
    }

    /// Opens the manifests and segments among `names`.
    ///
    /// Files are identified by their headers, not by their names.
    ///
    /// - Throws: `.notAStore` if there is none; `.newerFormat`; disk errors.
    init(_ path: String, _ names: [String], on disk: Disk) throws(LogError) {
        var files: [File] = []
        /// The error of the first segment that could not be opened.
        var failure: LogError?
        for name in names {
            let named = FileName.parse(name)
            do throws(LogError) {
                if let file = try Self.open(path + "/" + name, name, named, on: disk) { files.append(file) }
            } catch {
                guard error.code != .newerFormat else { throw error }
                guard let kind = named?.kind, kind == .manifest || kind.isSegment else { continue }
                if kind.isSegment, failure == nil { failure = error }
                lost.append(LostRange(path: path + "/" + name, offset: 0, byteCount: 0, reason: error.message))
            }
        }
        guard files.contains(where: \.mayBeSegment) else {
            // There are segments, but none could be opened: that is another error.
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
            identity?.storeID
            ?? Self.mostFrequent(files.compactMap(\.header)) ?? StoreID(high: 0, low: 0)
        isCompacted =
            identity.map { $0.incompatible & Feature.compaction != 0 }
            ?? files.contains { ($0.header?.kind ?? $0.named?.kind) == .coldSegment }
        directory = StoreDirectory(
            disk: disk, path: path, storeID: storeID, nextNumber: 1, random: RandomSource(seed: 0))
        try readManifests(files)
        // If two files have the same number, the one with the right name is read.
        let candidates = files.filter(\.mayBeSegment)
        for file in candidates where file.isNamedAsItIs { try take(file) }
        for file in candidates where !file.isNamedAsItIs { try take(file) }
        noteMissing()
    }

    /// - Returns: Nil for a file that is neither a manifest nor a segment.
    private static func open(
        _ path: String, _ name: String, _ named: (kind: FileKind, number: UInt64)?, on disk: Disk
    ) throws(LogError) -> File? {
        let file = try onDisk("opening a file") { () throws(DiskError) in try disk.open(path, for: .reading) }
        let byteCount = try onDisk("measuring a file") { () throws(DiskError) in try file.byteCount() }
        var header: FileHeader?
        do throws(LogError) {
            header = try StoreDirectory.readHeader(of: file)
        } catch {
            guard error.code == .damaged || error.code == .failedDisk else { throw error }
        }
        let found = File(name: name, named: named, file: file, byteCount: byteCount, header: header)
        guard found.isManifest || found.mayBeSegment else {
            file.close()
            return nil
        }
        return found
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
        directory.managed(file.file, header)
    }

    private mutating func readManifests(_ files: [File]) throws(LogError) {
        let manifests = files.filter(\.isManifest).compactMap { file in file.header.map { (file, $0) } }
        for (file, header) in manifests.sorted(by: { $0.1.fileNumber < $1.1.fileNumber }) where isOurs(header) {
            // The file itself may be a segment with a damaged header.
            try facts.read(reopened(file, header))
            if !file.isNamedAsItIs, try holdsFrames(file, header) { noteName(of: file, header) }
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
            // A manifest, checkpoint or run under another name, or a foreign file.
            guard file.named?.kind.isSegment == true, file.header?.kind.isSegment ?? true else { return }
            let reason =
                file.header == nil
                ? "The file's header does not verify, and no manifest lists the file."
                : "Nothing in the file verifies by its header, and no manifest lists the file."
            return lose(file, file.byteCount, reason)
        }
        guard isOurs(header), UInt32(truncatingIfNeeded: header.fileNumber) != 0 else {
            return lose(file, file.byteCount, "The file is of another store.")
        }
        if facts.dropped.contains(header.fileNumber) { return }
        if let listed = facts.known[header.fileNumber], listed.salt != header.salt {
            return lose(file, file.byteCount, "The file is of another copy of the store.")
        }
        if let other = segments.first(where: { $0.number == header.fileNumber }), file.named == nil {
            remarks.append(
                SalvageRemark(
                    path: file.file.path, text: "The file is a copy of \(name(of: other)), and was not read."))
            return
        }
        guard !isTaken(header.fileNumber) else {
            return lose(file, file.byteCount, "Another file has the same number.")
        }
        noteName(of: file, header)
        segments.append(managed(file, header))
    }

    private func name(of managed: ManagedFile) -> String {
        managed.path.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Reports a file that has the name of another.
    private mutating func noteName(of file: File, _ header: FileHeader) {
        let name = FileName.numbered(header.kind, header.fileNumber)
        guard file.name != name else { return }
        remarks.append(
            SalvageRemark(path: file.file.path, text: "The file is \(name) by its header, and was read as that one."))
    }

    /// The header that a segment was written with; nil if it is unknown.
    ///
    /// The file's own header counts, even under another name. A manifest's entry for the name counts if the file's own
    /// header does not verify, or belongs to another file.
    private mutating func header(of file: File) throws(LogError) -> FileHeader? {
        if file.isNamedAsItIs { return file.header }
        if let listed = listedHeader(of: file), try isLost(file, listed) {
            remarks.append(
                SalvageRemark(
                    path: file.file.path, text: "The file's header is lost; a manifest still names its kind."))
            return listed
        }
        guard let own = file.header, own.kind.isSegment else { return nil }
        guard isOurs(own) else { return file.named == nil ? nil : own }
        if file.byteCount <= UInt64(FileHeader.byteCount) { return own }
        return try holdsFrames(file, own) ? own : nil
    }

    /// Whether a file's present header differs from the one it was written with.
    private func isLost(_ file: File, _ listed: FileHeader) throws(LogError) -> Bool {
        if file.header == nil { return true }
        return try holdsFrames(file, listed)
    }

    /// The header of the segment with the file's name, by a manifest.
    private func listedHeader(of file: File) -> FileHeader? {
        guard let named = file.named, let listed = facts.known[named.number], listed.kind == named.kind,
            listed.kind.isSegment
        else { return nil }
        return FileHeader(
            kind: listed.kind, storeID: (directory.storeID.high, directory.storeID.low), fileNumber: listed.number,
            salt: listed.salt, generation: listed.generation)
    }

    /// Whether any frame or record in the file verifies under a header.
    private func holdsFrames(_ file: File, _ header: FileHeader) throws(LogError) -> Bool {
        var scanner = LenientScanner(
            try reopened(file, header), from: UInt64(FileHeader.byteCount), limit: max(file.byteCount, 64))
        while let piece = try scanner.next() {
            if case .frame = piece { return true }
        }
        return false
    }

    /// Opens a file again, since it is closed with the object that owns it.
    private func reopened(_ file: File, _ header: FileHeader) throws(LogError) -> ManagedFile {
        let again = try onDisk("opening a file") { () throws(DiskError) in
            try directory.disk.open(file.file.path, for: .reading)
        }
        return directory.managed(again, header)
    }

    private mutating func lose(_ file: File, _ byteCount: UInt64, _ reason: String) {
        lost.append(LostRange(path: file.file.path, offset: 0, byteCount: byteCount, reason: reason))
    }

    /// Locations name files by the low 32 bits of their number.
    private func isTaken(_ number: UInt64) -> Bool {
        segments.contains { UInt32(truncatingIfNeeded: $0.number) == UInt32(truncatingIfNeeded: number) }
    }

    /// Reports segments that the newest manifest lists but that do not exist.
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
