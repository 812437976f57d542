import FaultlineDisk

/// Files of the directory that the manifest does not list.
enum Leftovers {
    /// What is to be done with them once the store is open.
    struct Plan {
        var remove: [String] = []
        var quarantine: [String] = []
    }

    /// Looks at every file that is not listed.
    ///
    /// - Throws: `.damaged` if one shows that the manifest has lost an edit: a segment with frames is always listed,
    ///   because it gets its first frame after the edit is durable.
    static func plan(
        _ names: [String], in directory: StoreDirectory, state: ManifestState, manifest: UInt64
    ) throws(LogError) -> Plan {
        var plan = Plan()
        for name in names {
            if name == FileName.identityBeingWritten { plan.remove.append(name) }
            guard let (kind, number) = FileName.parse(name) else { continue }
            if kind == .manifest {
                if number != manifest { plan.remove.append(name) }
                continue
            }
            if state.files[number]?.kind == kind { continue }
            let path = directory.path(of: name)
            guard let header = try readHeader(path, on: directory.disk) else {
                // Nothing was ever written to it, or something that is not ours.
                if try isEmpty(path, on: directory.disk) {
                    plan.remove.append(name)
                } else {
                    plan.quarantine.append(name)
                }
                continue
            }
            guard header.storeID == (directory.storeID.high, directory.storeID.low), header.kind == kind,
                header.fileNumber == number
            else {
                plan.quarantine.append(name)
                continue
            }
            let isSegment = kind == .hotSegment || kind == .blobSegment || kind == .coldSegment
            if isSegment, header.flags & FileHeader.flagFilledUnlisted == 0, try hasFrame(path, on: directory.disk) {
                throw .damaged("A segment that holds data is not listed: the manifest has lost an edit.", path)
            }
            plan.remove.append(name)
        }
        return plan
    }

    /// Carries the plan out.
    ///
    /// What cannot be done now is done when the store is opened next.
    static func carryOut(_ plan: Plan, in directory: StoreDirectory, report: inout OpenReport) {
        for name in plan.remove {
            do { try directory.disk.remove(directory.path(of: name)) } catch { continue }
            report.removedFiles.append(name)
        }
        guard !plan.quarantine.isEmpty else { return }
        let target = directory.path(of: FileName.quarantine)
        do { try directory.disk.createDirectory(target) } catch { if error.code != .exists { return } }
        for name in plan.quarantine {
            do { try directory.disk.rename(directory.path(of: name), to: target + "/" + name) } catch { continue }
            report.quarantinedFiles.append(name)
        }
    }

    private static func readHeader(_ path: String, on disk: Disk) throws(LogError) -> FileHeader? {
        let file = try onDisk("looking at a file that is not listed") { () throws(DiskError) in
            try disk.open(path, for: .reading)
        }
        defer { file.close() }
        do {
            return try StoreDirectory.readHeader(of: file)
        } catch {
            if error.code == .damaged || error.code == .newerFormat { return nil }
            throw error
        }
    }

    /// Whether a file is shorter than a header or begins with zeros.
    private static func isEmpty(_ path: String, on disk: Disk) throws(LogError) -> Bool {
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

    /// Whether the first frame of a file has a valid head.
    static func hasFrame(_ path: String, on disk: Disk) throws(LogError) -> Bool {
        let file = try onDisk("looking at a file that is not listed") { () throws(DiskError) in
            try disk.open(path, for: .reading)
        }
        defer { file.close() }
        let header: FileHeader
        do {
            header = try StoreDirectory.readHeader(of: file)
        } catch {
            if error.code == .damaged || error.code == .newerFormat { return false }
            throw error
        }
        return try withUnsafeTemporaryAllocation(byteCount: FrameHeader.byteCount, alignment: 8) {
            (bytes) throws(LogError) in
            let count = try onDisk("looking at a file that is not listed") { () throws(DiskError) in
                try file.read(into: bytes, at: UInt64(FileHeader.byteCount))
            }
            guard count == FrameHeader.byteCount, let start = bytes.baseAddress else { return false }
            return FrameHeader(reading: start, at: UInt64(FileHeader.byteCount), of: header) != nil
        }
    }
}
