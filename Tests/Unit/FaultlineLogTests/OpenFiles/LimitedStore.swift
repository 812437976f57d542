import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// A store with about 130 files on a disk whose table keeps few of them open.
struct LimitedStore {
    static let objectCount = 4_020

    let folder: TemporaryDirectory
    let path: String
    let table: OpenFiles
    let disk: PosixDisk

    init(limit: Int = 16, in folder: TemporaryDirectory = TemporaryDirectory(), name: String = "store") {
        self.init(OpenFiles(limit: limit), in: folder, name: name)
    }

    init(_ table: OpenFiles, in folder: TemporaryDirectory = TemporaryDirectory(), name: String = "store") {
        self.folder = folder
        self.table = table
        path = folder.path + "/" + name
        disk = PosixDisk(table)
    }

    static func options(_ access: LogAccess = .writing, segmentByteCount: Int = 2_000) -> LogOptions {
        var options = Store.options
        options.segmentByteCount = segmentByteCount
        options.access = access
        return options
    }

    /// Opens the store; with a disk, as another process does.
    func open(
        _ access: LogAccess = .writing, on disk: Disk? = nil, segmentByteCount: Int = 2_000
    ) throws -> Log {
        try Log.open(
            path, on: disk ?? self.disk, clock: Clock { 5 },
            options: Self.options(access, segmentByteCount: segmentByteCount), deriver: WholeRowDeriver())
    }

    /// A disk that counts as that of another process.
    static var otherDisk: Disk { CountingDisk(over: PosixDisk(OpenFiles(limit: 200))) }

    func filled() throws -> Log {
        let log = try open()
        for first in stride(from: 0, to: Self.objectCount, by: 30) {
            try log.insert((first..<first + 30).map { row($0, byteCount: 60) })
        }
        try log.checkpoint()
        return log
    }

    var openCount: Int { OpenDescriptors.count(under: path) }

    var fileCount: Int { (try? PosixDisk().names(in: path).count) ?? 0 }

    /// Gives all objects new rows, in few transactions, and drops the segments of the old ones.
    static func replaceAll(in log: Log, round: Int = 1) throws {
        for first in stride(from: 1, to: objectCount, by: 402) {
            _ = try log.write(author: nil) { transaction in
                for id in first..<first + 402 {
                    try transaction.put(UInt64(id), row(round * 50_000 + id, byteCount: 60))
                }
            }
        }
        try log.compact()
        try log.checkpoint()
    }

    /// Whether all objects have their first rows.
    static func isWhole(_ snapshot: Snapshot, step: Int = 1) throws -> Bool {
        for number in stride(from: 0, to: objectCount, by: step) {
            guard try snapshot.row(UInt64(number + 1)) == row(number, byteCount: 60) else { return false }
        }
        return true
    }
}
