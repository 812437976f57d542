import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// Reads bytes as a run of a text index, whose entries lie in blocks of postings.
enum PostingTrial {
    private static let definition = IndexDefinition(
        id: IndexID(rawValue: 7), isUnique: false, searchPrefix: .bytes(9), isText: true)
    private static let header = FileHeader(kind: .indexRun, storeID: (1, 2), fileNumber: 9, salt: 3)
    private static let path = "/d/run"
    private static let terms: [[UInt8]] = ["", "boat", "boats", "sea", "winter"].map { Array($0.utf8) }

    /// Runs of one block and of several.
    static func seeds() throws -> [[UInt8]] { try [2, 40, 400].map(seed) }

    private static func seed(_ objectCount: UInt64) throws -> [UInt8] {
        let disk = SimulatedDisk(directories: ["/d"])
        var writer = try RunWriter(
            file: try disk.open(path, for: .creating), header: header, definition: definition, level: 0,
            expectedEntryCount: objectCount * 5)
        for (place, term) in terms.enumerated() {
            for id in 1...objectCount where id % UInt64(place + 1) == 0 {
                let payload = [UInt8](repeating: UInt8(id % 7), count: Int(1 + id % 3))
                let key = term + [0] + withUnsafeBytes(of: id.bigEndian) { Array($0) } + payload
                try key.withUnsafeBytes {
                    try writer.append(key: $0, id: id, sequence: 10 + id / 9, isDelete: id % 11 == 5)
                }
            }
        }
        _ = try writer.finish()
        return try disk.contents(of: path)
    }

    static func run(_ bytes: [UInt8], repairsChecksums: Bool) throws {
        let disk = SimulatedDisk(directories: ["/d"])
        let file = try disk.open(path, for: .creating)
        let content = repairsChecksums ? ChecksumRepair.repaired(bytes, name: "r-") : bytes
        try content.withUnsafeBytes { try file.write($0, at: 0) }
        do throws(LogError) {
            let run = try Run.open(
                file, fileNumber: header.fileNumber, storeID: (1, 2), definition: definition,
                cache: BlockCache(budget: MemoryBudget(byteCount: 1 << 20)))
            try read(run)
        } catch {
            guard error.code == .damaged else { throw FuzzViolation(description: "\(error)") }
        }
    }

    private static func read(_ run: Run) throws(LogError) {
        try run.verify()
        let cursor = run.streamingCursor()
        while try cursor.advance() { _ = cursor.keyArray.count }
        let state = IndexState(definition: definition, active: Memtable(definition: definition), runs: [run])
        for term in terms {
            for step in [1, 100] as [RecordID] {
                let postings = try state.postings(term: term, at: .max)
                while try postings.advance(notBelow: min(postings.id, .max - step) + step) {
                    _ = postings.payload.count
                }
            }
        }
    }
}
