import FaultlineDisk

extension Log {
    /// Reads every byte that the store needs and reports every fault.
    ///
    /// - Parameters:
    ///   - finding: Called for each fault, as it is found.
    ///   - progress: Gets the bytes done and their total, every mebibyte or more often; bytes that are read twice count
    ///     twice.
    /// - Throws: Only if the disk does not answer.
    package func verify(
        _ finding: (Finding) -> Void, progress: (_ done: UInt64, _ total: UInt64) -> Void
    ) throws(LogError) {
        let (snapshot, state, ends) = try settled()
        // The catalog may have been written since the store was opened.
        try deriver.catalogChanged { (id) throws(LogError) -> [UInt8]? in
            var buffer = RecordBuffer()
            guard let record = try snapshot.read(id, in: .catalog, into: &buffer) else { return nil }
            return Array(record.row)
        }
        reportUnusableFiles(state, finding)
        try withoutActuallyEscaping(finding) { (finding) throws(LogError) in
            try withoutActuallyEscaping(progress) { (progress) throws(LogError) in
                // While no checkpoint runs, exactly the listed files exist.
                if let checkpointer = writing?.checkpointer {
                    try checkpointer.whileIdle { () throws(LogError) in
                        try FileComparison(directory: directory, state: manifestState).run(finding)
                    }
                }
                try Verifier(
                    directory: directory, state: state, snapshot: snapshot, deriver: deriver, openEnds: ends,
                    finding: finding,
                    progress: progress
                ).run()
            }
        }
    }

    /// Reports the checkpoints and runs that the opening could not use, while the manifest lists them.
    ///
    /// Their content was rebuilt in memory, so nothing else here would find them.
    private func reportUnusableFiles(_ state: ManifestState, _ finding: (Finding) -> Void) {
        guard !options.ignoresDerivedFiles else { return }
        for name in openReport.ignoredDerivedFiles {
            guard let (_, number) = FileName.parse(name), state.files[number] != nil else { continue }
            finding(
                Finding(
                    .damage, "When the store was opened, this file did not verify: its contents were rebuilt.",
                    path: directory.path(of: name)))
        }
    }

    /// A snapshot, the manifest's state when it was the newest, and the ends of the segments that were being written.
    private func settled() throws(LogError) -> (Snapshot, ManifestState, [UInt64: UInt64]) {
        guard let writing, failure == nil else { return (snapshot(), manifestState, found.ends) }
        var ends: [UInt64: UInt64] = [:]
        var settled: (Snapshot, ManifestState)?
        // While no checkpoint runs, nothing is moved or dropped.
        try writing.checkpointer.whileIdle { () throws(LogError) in
            if let cold = writing.checkpointer.compactor.openEnd { ends[cold.number] = cold.end }
            let (completion, leads) = writing.sequencer.turn.withLock { writing.sequencer.enqueueBarrier() }
            writing.committer.finish(completion, leads: leads)
            if let failure = completion.failure { throw failure }
            guard let position = completion.position else { throw .closed(path) }
            ends[position.segment.number] = position.offset
            settled = (snapshot(), manifestState)
        }
        guard let settled else { throw .closed(path) }
        return (settled.0, settled.1, ends)
    }
}
