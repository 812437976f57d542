import FaultlineDisk

/// Opens for reading, beside writers of other processes: `docs/FileFormat.md` section 16.
extension Opening {
    /// The number of attempts of a reader while a writer changes the files that it reads.
    private static let attemptCountMax = 100

    /// A manifest at a time: a reader's findings are right if it is still in force afterwards.
    struct ManifestVersion: Equatable {
        let number: UInt64
        let end: UInt64

        init(_ reading: ManifestReader.Reading) {
            number = reading.managed.number
            end = reading.end
        }
    }

    /// Opens for reading; repeats while a writer changes the files.
    mutating func runBesideWriters() throws(LogError) -> Opened {
        for _ in 0..<Self.attemptCountMax {
            isBesideWriter = try lock.hasWriter()
            listed = []
            read = nil
            report = OpenReport()
            indexesToRebuild = []
            needsSameManifest = false
            hasReadWithoutLimit = false
            openedDirectory = nil
            var opened: Opened?
            var failure: LogError?
            do throws(LogError) { opened = try attempt() } catch { failure = error }
            // A writer came, and frames behind the last sync may have been read.
            if !isBesideWriter || hasReadWithoutLimit, try lock.hasWriter() { continue }
            let isDoubtful =
                failure?.code == .damaged || opened?.report.ignoredDerivedFiles.isEmpty == false || needsSameManifest
            if isDoubtful, try !isManifestTheSame() { continue }
            if var opened {
                opened.mark = mark
                return opened
            }
            if let failure { throw failure }
        }
        throw LogError(
            .lockedByAnother, "Another process changed the store each time that it was read. Open it again.", path: path
        )
    }

    /// Whether the manifest that was read is still in force, or still none verifies: then no file was listed, dropped
    /// or removed in the meantime.
    private func isManifestTheSame() throws(LogError) -> Bool {
        let names = try onDisk("listing the store's directory") { () throws(DiskError) in try disk.names(in: path) }
        let manifests = FileName.manifests(among: names)
        // IDENTITY never changes but for a new feature, in one step.
        guard let directory = openedDirectory else { return true }
        guard let read else { return manifests == listed }
        do throws(LogError) {
            guard let now = try ManifestReader.newest(manifests, in: directory, for: .reading) else { return false }
            return ManifestVersion(now) == read
        } catch {
            guard error.code == .damaged else { throw error }
            return false
        }
    }

    /// The end of the frames that a sync is known to have covered, which is a reader's limit beside a writer.
    mutating func readerLimit(
        _ managed: ManagedFile, from offset: UInt64, previousHead: UInt32, durable: UInt64
    ) throws(LogError) -> UInt64? {
        guard options.access == .reading else { return nil }
        guard try lock.hasWriter() else {
            hasReadWithoutLimit = true
            return nil
        }
        let length = try onDisk("reading a segment") { () throws(DiskError) in try managed.file.byteCount() }
        var scanner = FrameScanner(managed, from: offset, previousHead: previousHead, limit: length)
        while try scanner.next() != nil {}
        return max(scanner.durable, durable)
    }

    /// Whether a reader's files form one state only if the manifest did not change in the meantime.
    ///
    /// Over a checkpoint that is so for blobs in segments that were not listed yet. All other files that the manifest
    /// and the log before the limit name are open, and moved records are also at their old locations. If everything
    /// comes from the segments, moved records may be of transactions behind the limit.
    func needsSameManifest(_ replay: Replay, _ start: CheckpointPosition) -> Bool {
        guard start.file != 0 else { return true }
        return replay.blobEnds.keys.contains { replay.files.find(UInt32(truncatingIfNeeded: $0)) == nil }
    }
}
