import FaultlineDisk
package import FaultlineLog

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
                try whileNoCheckpointRuns { (state) throws(LogError) in
                    try FileComparison(directory: directory, state: state).run(finding)
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
    func reportUnusableFiles(_ state: ManifestState, _ finding: (Finding) -> Void) {
        guard !options.ignoresDerivedFiles else { return }
        for name in openReport.ignoredDerivedFiles {
            guard let (_, number) = FileName.parse(name), state.files[number] != nil else { continue }
            finding(
                Finding(
                    .damage, "When the store was opened, this file did not verify: its contents were rebuilt.",
                    path: directory.path(of: name)))
        }
    }
}
