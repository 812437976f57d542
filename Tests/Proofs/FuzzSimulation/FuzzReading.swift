import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

/// Reads a store of any bytes.
struct FuzzReading {
    /// The number of bytes read at each end of a blob.
    private static let blobByteCount: UInt64 = 1 << 16

    /// Whether checksums were corrected.
    let repairsChecksums: Bool
    /// Whether checkpoints and runs are rebuilt from the segments.
    let ignoresDerivedFiles: Bool

    /// Opens a store, reads everything, verifies it, commits to it and closes it.
    ///
    /// - Returns: The refusal or finding; nil if there is none.
    /// - Throws: `FuzzViolation` if an error is not one that bytes can cause.
    func problem(on disk: SimulatedDisk, path: String = FuzzStore.path) throws -> String? {
        do {
            var options = FuzzStore.options()
            options.ignoresDerivedFiles = ignoresDerivedFiles
            let log = try Log.open(path, on: disk, clock: Clock { 2_000 }, options: options, deriver: CrashDeriver())
            defer { log.abandonForTests() }
            try readAll(log)
            var findings: [Finding] = []
            try log.verify({ findings.append($0) }, progress: { _, _ in })
            let sequence = log.snapshot().sequence
            let (_, receipt) = try log.write(author: "fuzz") { transaction in
                let table = TableID(rawValue: 18)
                try transaction.put(transaction.allocateIDs(1, in: table), [1, 2, 3], in: table)
            }
            guard receipt.sequence > sequence else {
                throw FuzzViolation(description: "transaction \(receipt.sequence) follows \(sequence)")
            }
            try log.close()
            return findings.first.map { "\($0)" }
        } catch let error as LogError {
            try checkRefusal(error)
            return "\(error.code): \(error)"
        }
    }

    /// The disk works, so only bytes can be wrong; and the error must say where.
    func checkRefusal(_ error: LogError) throws {
        switch error.code {
        case .damaged, .newerFormat, .notAStore, .tooLarge: break
        // By a feature bit.
        case .readOnly: break
        case .failedDisk where error.cause?.code == .notFound: break
        default: throw FuzzViolation(description: "bytes cannot cause this: \(error.code): \(error)")
        }
        // If checksums were corrected, it is unknown which of two files is wrong.
        guard error.path != nil || repairsChecksums || error.code == .tooLarge else {
            throw FuzzViolation(description: "the error names no file: \(error)")
        }
    }

    private func readAll(_ log: Log) throws {
        let snapshot = log.snapshot()
        for table in try log.usage().recordCounts.keys.sorted() {
            try snapshot.scan(table, from: 1, through: .max, readAhead: 1 << 14) { views in
                if table == .blobs { for view in views { try readBlob(view.id, snapshot) } }
                return true
            }
        }
        for index in [CrashDeriver.unique, CrashDeriver.group] {
            var keys: [[UInt8]] = []
            try snapshot.forEachEntry(in: index, prefix: UnsafeRawBufferPointer(start: nil, count: 0)) { key, _ in
                if keys.count < 16 { keys.append(Array(key)) }
                return true
            }
            for key in keys where index.isUnique {
                _ = try key.withUnsafeBytes { try snapshot.firstID(in: index, key: $0) }
            }
        }
    }

    private func readBlob(_ id: RecordID, _ snapshot: Snapshot) throws {
        let byteCount = try snapshot.blobByteCount(id)
        let head = min(byteCount, Self.blobByteCount)
        var bytes = [UInt8](repeating: 0, count: Int(head))
        try bytes.withUnsafeMutableBytes { try snapshot.readBlob(id, range: 0..<head, into: $0) }
        try bytes.withUnsafeMutableBytes { try snapshot.readBlob(id, range: byteCount - head..<byteCount, into: $0) }
    }
}
