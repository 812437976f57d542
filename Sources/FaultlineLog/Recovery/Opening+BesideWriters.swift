import FaultlineDisk

/// Opening for reading, beside writers of other processes: `docs/FileFormat.md` section 16.
extension Opening {
    /// How often a reader begins again while a writer changes what it reads.
    private static let attemptCountMax = 100

    /// A manifest at a moment: what a reader finds wrong is wrong if it is still in force then.
    struct ManifestVersion: Equatable {
        let number: UInt64
        let end: UInt64

        init(_ reading: ManifestReader.Reading) {
            number = reading.managed.number
            end = reading.end
        }
    }

    /// Opens for reading, again and again while a writer changes what is read.
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
            // A writer came, and what lies behind the last sync may have been looked at.
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

    /// Whether the manifest that was read is in force still, or there is none that verifies still: then nothing was
    /// listed, dropped or removed meanwhile.
    private func isManifestTheSame() throws(LogError) -> Bool {
        let names = try onDisk("listing the store's directory") { () throws(DiskError) in try disk.names(in: path) }
        let manifests = Self.manifests(among: names)
        // What IDENTITY says never changes but for a feature, in one step.
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

    /// Beside a writer, a reader sees what a sync is known to have covered.
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

    /// Whether what a reader saw is one state only if nothing was listed meanwhile.
    ///
    /// Over a checkpoint that is so for blobs in segments that were not listed yet; all else that the manifest and the
    /// log before the limit name is in files that are open, and what was moved is where it was, too. Where all comes from
    /// the segments, moved records may be of transactions behind the limit.
    func needsSameManifest(_ replay: Replay, _ start: CheckpointPosition) -> Bool {
        guard start.file != 0 else { return true }
        return replay.blobEnds.keys.contains { replay.files.find(UInt32(truncatingIfNeeded: $0)) == nil }
    }
}
