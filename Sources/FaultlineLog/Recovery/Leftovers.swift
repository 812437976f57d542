import FaultlineDisk

/// Files in the directory that the manifest does not list: `docs/FileFormat.md` section 8.
///
/// No file that holds a frame is removed unless the manifest in force lists it as dropped, or the frame is a copy that
/// an interrupted recovery made.
enum Leftovers {
    /// The actions for these files once the store is open.
    struct Plan {
        var remove: [String] = []
        var quarantine: [String] = []
        /// Paths of superseded manifests.
        var superseded: [String] = []
        /// Whether there is a newer manifest, whose writing had begun.
        var isInterrupted = false
        /// Whether a newer manifest does not verify: it was never in force, or it is damaged.
        var isDoubtful = false
        /// Whether there is no action.
        var isEmpty: Bool { remove.isEmpty && quarantine.isEmpty && superseded.isEmpty }
    }

    /// Examines every file that is not listed.
    ///
    /// - Throws: `.damaged` if one shows that the manifest is not the newest, or has lost an edit: a segment with
    ///   frames of its own is always listed, because it gets the first frame after the edit is durable.
    static func plan(
        _ names: [String], in directory: StoreDirectory, state: ManifestState, manifest: UInt64
    ) throws(LogError) -> Plan {
        var plan = Plan()
        for name in names {
            guard let (kind, number) = FileName.parse(name), kind == .manifest, number != manifest else { continue }
            try plan.add(manifest: number, name, in: directory, inForce: manifest)
        }
        for name in names {
            if name == FileName.identityBeingWritten { plan.remove.append(name) }
            guard let (kind, number) = FileName.parse(name), kind != .manifest, state.files[number]?.kind != kind else {
                continue
            }
            try plan.add(kind, number, name, in: directory, isDropped: state.dropped.contains(number))
        }
        return plan
    }

    /// Checks for files that show that the manifest is not the newest, or has lost an edit: a reader must not get an
    /// older state as the newest.
    ///
    /// No process may have the store open for writing. A reader ignores a file that it cannot open.
    ///
    /// - Throws: `.damaged`, as `plan`.
    static func refuseLostEdits(
        _ names: [String], in directory: StoreDirectory, state: ManifestState, manifest: UInt64
    ) throws(LogError) {
        do throws(LogError) {
            _ = try plan(names, in: directory, state: state, manifest: manifest)
        } catch {
            guard error.code == .damaged else { return }
            throw error
        }
    }

    /// Executes the plan, but for the superseded manifests, which `Manifest` removes.
    ///
    /// Actions that fail are repeated at the next opening.
    static func carryOut(_ plan: Plan, in directory: StoreDirectory, report: inout OpenReport) {
        let paths = plan.remove.map { directory.path(of: $0) }
        let unneeded = Set(directory.unneeded?.take(paths, mayMove: true) ?? paths)
        for (name, path) in zip(plan.remove, paths) where unneeded.contains(path) {
            do { try directory.disk.remove(path) } catch { continue }
            report.removedFiles.append(name)
        }
        guard !plan.quarantine.isEmpty else { return }
        let target = directory.path(of: FileName.quarantine)
        do { try directory.disk.createDirectory(target) } catch { if error.code != .exists { return } }
        for name in plan.quarantine {
            do {
                var place = target + "/" + name
                // A file there stays: a number may have been used again.
                while try directory.disk.isPresent(place) { place += ".again" }
                let byteCount = try Self.byteCount(directory.path(of: name), on: directory.disk)
                try directory.disk.rename(directory.path(of: name), to: place)
                report.quarantinedByteCount += byteCount
            } catch {
                continue
            }
            report.quarantinedFiles.append(name)
        }
    }

    /// Bytes of a file.
    static func byteCount(_ path: String, on disk: Disk) throws(LogError) -> UInt64 {
        try onDisk("looking at a file that is not listed") { () throws(DiskError) in try disk.byteCount(of: path) }
    }

    /// Whether a file is empty: it is shorter than a header, or begins with zeros and is of a kind that cannot hold
    /// frames behind them.
    fileprivate static func isEmpty(_ path: String, _ kind: FileKind, on disk: Disk) throws(LogError) -> Bool {
        if kind.isSegment, try byteCount(path, on: disk) > FileHeader.byteCount { return false }
        let file = try onDisk("looking at a file that is not listed") { () throws(DiskError) in
            try disk.open(path, for: .reading)
        }
        defer { file.close() }
        return try withUnsafeTemporaryAllocation(byteCount: FileHeader.byteCount, alignment: 8) {
            (bytes) throws(LogError) in
            let count = try onDisk("looking at a file that is not listed") { () throws(DiskError) in
                try file.read(into: bytes, at: 0)
            }
            return count < FileHeader.byteCount || bytes.allSatisfy { $0 == 0 }
        }
    }

    /// The frames of a segment that the manifest does not list.
    fileprivate enum Frames {
        case none, rescued, own
    }

    /// Looks for frame headers in the whole segment: an abandoned blob leaves bytes before the first.
    fileprivate static func frames(of managed: ManagedFile) throws(LogError) -> Frames {
        let length = try onDisk("looking at a file that is not listed") { () throws(DiskError) in
            try managed.file.byteCount()
        }
        var scanner = FrameScanner(managed, from: UInt64(FileHeader.byteCount), previousHead: 0, limit: length)
        var found = Frames.none
        while let frame = try scanner.next() {
            guard frame.header.isRescued else { return .own }
            found = .rescued
        }
        try scanner.forEachHeadBehind { header, _ in
            if !header.isRescued { found = .own } else if found == .none { found = .rescued }
        }
        return found
    }
}

extension Leftovers.Plan {
    fileprivate mutating func add(
        manifest number: UInt64, _ name: String, in directory: StoreDirectory, inForce: UInt64
    ) throws(LogError) {
        let path = directory.path(of: name)
        if try Leftovers.byteCount(path, on: directory.disk) <= FileHeader.byteCount {
            remove.append(name)
        } else if number < inForce, try ManifestReader.isWhole(number, in: directory) {
            superseded.append(path)
        } else {
            if number > inForce { isInterrupted = true }
            if try ManifestReader.isTorn(number, in: directory) {
                remove.append(name)
            } else {
                quarantine.append(name)
                if number > inForce { isDoubtful = true }
            }
        }
    }

    fileprivate mutating func add(
        _ kind: FileKind, _ number: UInt64, _ name: String, in directory: StoreDirectory, isDropped: Bool
    ) throws(LogError) {
        let path = directory.path(of: name)
        let managed: ManagedFile
        do throws(LogError) {
            managed = try directory.open(kind, number, for: .reading)
        } catch {
            guard error.code == .damaged || error.code == .newerFormat else { throw error }
            // It was never written to, or does not belong to the store.
            if try Leftovers.isEmpty(path, kind, on: directory.disk) {
                remove.append(name)
            } else {
                quarantine.append(name)
            }
            return
        }
        guard kind.isSegment, !isDropped else {
            remove.append(name)
            return
        }
        switch try Leftovers.frames(of: managed) {
        case .own:
            throw .damaged(
                "A segment that holds data is not listed: the manifest has lost an edit, or is not the newest.", path)
        case .rescued where isDoubtful:
            // If the newer manifest is damaged, it may have listed this segment.
            quarantine.append(name)
        case .rescued, .none:
            remove.append(name)
        }
    }
}
