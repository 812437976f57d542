package import FaultlineLog

/// The extent of a quick check.
package struct QuickCheck: Sendable {
    /// Records in all, those of large values included.
    package var recordCount = 0
    /// Records of the sample, which were read and verified.
    package var readCount = 0
    /// Whether the directory was compared with the manifest: not beside a writer, which makes and removes files.
    package var comparesFiles = false

    package init() {}
}

extension Log {
    /// Looks for damage in the parts that everything depends on, and in a sample of the rest.
    ///
    /// It verifies the identity, the list of files and every page of the tables, and reads some records of each table
    /// and the first bytes of some large values. `verify` reads everything. Nothing is written, and writers continue.
    ///
    /// - Parameters:
    ///   - sampleCount: The greatest number of records read of each table.
    ///   - finding: Called for each fault, as it is found; not for files that a crash has left.
    /// - Returns: The extent of the check.
    /// - Throws: Only if the disk does not answer.
    /// - Complexity: Reads every page of every table, and `sampleCount` records of each.
    package func verifyQuickly(
        sampleCount: Int, _ finding: (Finding) -> Void
    ) throws(LogError) -> QuickCheck {
        let (snapshot, state, ends) = try settled()
        reportUnusableFiles(state, finding)
        var check = QuickCheck()
        if try otherWriter() == nil {
            var findings: [Finding] = []
            try whileNoCheckpointRuns { (state) throws(LogError) in
                try FileComparison(directory: directory, state: state).run { findings.append($0) }
            }
            // A writer that has come since may have removed files.
            check.comparesFiles = try otherWriter() == nil
            if check.comparesFiles { for one in findings where one.kind != .leftover { finding(one) } }
        }
        try withoutActuallyEscaping(finding) { (finding) throws(LogError) in
            try Verifier(
                directory: directory, state: state, snapshot: snapshot, deriver: deriver, openEnds: ends,
                finding: finding, progress: { _, _ in }
            ).runQuickly(sampleCount: sampleCount, &check)
        }
        return check
    }
}

extension Verifier {
    /// Verifies the identity, all pages of the tables, and a sample of the records.
    func runQuickly(sampleCount: Int, _ check: inout QuickCheck) throws(LogError) {
        try verifyIdentity()
        for root in snapshot.tables.all {
            try verifyPages(of: root)
            check.recordCount += root.recordCount
            check.readCount += try readSample(of: TableID(rawValue: root.table), root.nextID, sampleCount)
        }
    }

    /// Reads records at equal distances.
    ///
    /// - Returns: How many there were.
    private func readSample(of table: TableID, _ end: RecordID, _ sampleCount: Int) throws(LogError) -> Int {
        var buffer = RecordBuffer()
        var count = 0
        let distance = end / UInt64(max(sampleCount, 1)) + 1
        var id: RecordID = 1
        while id < end {
            do throws(LogError) {
                if try snapshot.read(id, in: table, into: &buffer) != nil {
                    count += 1
                    if table == .blobs { try readBeginning(of: id) }
                }
            } catch {
                guard error.isUnreadable else { throw error }
                count += 1
                finding(Finding(error, table: table, id: id))
            }
            id += distance
        }
        return count
    }

    /// Reads a byte of a large value, and so verifies its first chunk.
    private func readBeginning(of blob: RecordID) throws(LogError) {
        guard try snapshot.blobByteCount(blob) > 0 else { return }
        var byte: UInt8 = 0
        try withUnsafeMutableBytes(of: &byte) { (target) throws(LogError) in
            try snapshot.readBlob(blob, range: 0..<1, into: target)
        }
    }
}
