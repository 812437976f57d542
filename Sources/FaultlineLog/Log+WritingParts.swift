import FaultlineDisk

extension Log {
    /// The parts that only a log open for writing has.
    ///
    /// An object, because each commit would count a reference for each part of a structure.
    final class Writing {
        let manifest: Manifest
        let committer: Committer
        let sequencer: Sequencer
        let checkpointer: Checkpointer
        let maintainer: Maintainer
        /// Nil if each commit waits for the disk, or nothing may be written in the background.
        let synchronizer: BackgroundSynchronizer?
        /// Nil if saves wait on their own threads.
        let waiter: CommitWaiter?
        let space: DiskSpace
        /// Times commits, if they are observed.
        let times: CommitTimes?
        let waits = SpaceWaits()

        /// Makes the parts, and starts their threads.
        init(_ parts: LogParts, _ opened: Opening.Opened, _ tables: WorkingTables) {
            let (options, publisher) = (parts.options, parts.publisher)
            manifest = parts.manifest
            manifest.onFailure { error in publisher.fail(error) }
            let fileSystem = opened.directory.fileSystem
            // Zeros ahead cost more than they save on a file system that allocates at each write, and on one without
            // durability.
            let prepares = fileSystem.map { !$0.isCopyOnWrite && !$0.isVolatile } ?? false
            opened.directory.damage.tell(manifest)
            committer = Committer(parts, opened, preparedByteCount: prepares ? options.preparedByteCount : 0)
            times = committer.times
            let runs = RunStore(
                directory: parts.directory, manifest: manifest, publisher: publisher, cache: parts.blockCache,
                budget: parts.budget)
            space = DiskSpace(opened.directory, options)
            space.holdBack(storeByteCount: opened.state.segmentByteCount, isOpening: true)
            sequencer = Sequencer(parts, opened, tables, committer: committer, runs: runs, space: space)
            let compactor = Compactor(
                directory: parts.directory, manifest: manifest, publisher: publisher, sequencer: sequencer,
                options: options, budget: parts.budget, cold: opened.cold)
            checkpointer = Checkpointer(parts, sequencer, compactor, listed: opened.pageFiles)
            maintainer = Maintainer(
                checkpointer, compacts: options.isCompacting, patienceMilliseconds: options.patienceMilliseconds)
            if options.maintenance == .thread, options.durability == .async, fileSystem?.isVolatile != true {
                synchronizer = BackgroundSynchronizer(
                    committer, delayMilliseconds: options.synchronizationDelayMilliseconds)
            } else {
                synchronizer = nil
            }
            sequencer.uploads.begin(with: Self.uploadEnvironment(parts, space, maintainer))
            waiter =
                options.maintenance == .thread && options.durability == .sync ? CommitWaiter(committer) : nil
            startThreads(options)
        }

        private static func uploadEnvironment(
            _ parts: LogParts, _ space: DiskSpace, _ maintainer: Maintainer
        ) -> UploadSegments.Environment {
            let (directory, manifest, publisher) = (parts.directory, parts.manifest, parts.publisher)
            return UploadSegments.Environment(
                makeSegment: { () throws(LogError) in
                    // Read before the file is listed, so that each blob in it is of a later transaction.
                    let begun = publisher.snapshot.sequence
                    try manifest.makeRoom()
                    return try BlobSegment.make(
                        in: directory, manifest, publisher, begun: begun, headerSite: "upload.header",
                        directorySite: "upload.directory")
                },
                checkMayWrite: { () throws(LogError) in
                    if let failure = publisher.failure { throw .poisoned(by: failure, ", so nothing more is written.") }
                    if space.isForDeletesOnly() { throw LogError(noRoom: nil, path: directory.path) }
                },
                noteFull: { directory.noteFull($0) }, askForCheckpoint: { [weak maintainer] in _ = maintainer?.ask() })
        }

        private func startThreads(_ options: LogOptions) {
            if options.maintenance == .thread {
                maintainer.start()
                if sequencer.isCheckpointDue || sequencer.account.toleratedByteCount > 0 { _ = maintainer.ask() }
            }
            synchronizer?.start()
        }

        func stopThreads() {
            maintainer.stop()
            synchronizer?.stop()
            waiter?.stop()
        }
    }
}
