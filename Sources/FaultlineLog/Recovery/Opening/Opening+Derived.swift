import FaultlineDisk

/// Checkpoints and index runs: files that can be derived from the segments, so damage to one is noted and costs time.
extension Opening {
    mutating func noteIgnored(_ name: String) {
        if !report.ignoredDerivedFiles.contains(name) { report.ignoredDerivedFiles.append(name) }
    }

    /// Opens the runs of all indexes of the tables.
    ///
    /// - Returns: The indexes with a run that does not verify.
    mutating func openRuns(
        _ state: ManifestState, _ directory: StoreDirectory, _ replay: inout Replay
    ) throws(LogError) -> Set<IndexID> {
        let tables = replay.tables
        let cache = blockCache
        var damaged: Set<IndexID> = []
        var ignored: [String] = []
        try replay.memtables.openRuns(of: tables) { (definition) throws(LogError) in
            // Newest first: levels rise with age, and file numbers fall within a level.
            let entries = state.runs.filter { $0.index == definition.id.rawValue }
                .sorted { ($0.level, $1.file) < ($1.level, $0.file) }
            var runs: [Run] = []
            for entry in entries {
                do throws(LogError) {
                    guard let file = state.files[entry.file] else { continue }
                    let managed = try directory.open(file, for: .reading)
                    guard !file.isDamaged else {
                        throw LogError.damagedRun(managed.path, at: 0, "a block did not verify when it was read")
                    }
                    runs.append(try RunStore.open(managed, definition, in: directory, cache: cache))
                    directory.letRest(managed)
                } catch {
                    guard error.code == .damaged else { throw error }
                    damaged.insert(definition.id)
                    ignored.append(FileName.numbered(.indexRun, entry.file))
                }
            }
            return runs
        }
        for name in ignored { noteIgnored(name) }
        return damaged
    }

    mutating func openPageFiles(
        _ state: ManifestState, _ directory: StoreDirectory
    ) throws(LogError) -> [UInt64: PageFile] {
        var files: [UInt64: PageFile] = [:]
        for (number, entry) in state.files.sorted(by: { $0.key < $1.key }) where entry.kind == .tableCheckpoint {
            do throws(LogError) {
                let managed = try directory.open(entry, for: .reading)
                let length = try onDisk("reading a checkpoint") { () throws(DiskError) in try managed.file.byteCount() }
                guard !entry.isDamaged,
                    let footer = try CheckpointReader.readFooter(managed, length: length)
                else {
                    noteIgnored(FileName.numbered(.tableCheckpoint, number))
                    continue
                }
                files[number] = PageFile(managed, pageCount: Int(footer.pageCount))
                directory.letRest(managed)
            } catch {
                guard error.code == .damaged else { throw error }
                // It is derived: the tables can be rebuilt.
                noteIgnored(FileName.numbered(.tableCheckpoint, number))
            }
        }
        return files
    }

    func load(
        _ checkpoint: CheckpointPosition, _ files: [UInt64: PageFile], into tables: inout WorkingTables
    ) throws(LogError) -> Bool {
        guard let newest = files[checkpoint.file] else { return false }
        var byKey: [UInt32: PageFile] = [:]
        for (number, file) in files { byKey[UInt32(truncatingIfNeeded: number)] = file }
        return try CheckpointReader.read(newest, files: byKey, into: &tables)
    }
}
