import FaultlineDisk
import FaultlineTestSupport
import Glibc
import Testing

/// Random operations on files of a table with a small limit, beside their bytes in memory.
struct OpenFilesModel {
    private struct Live {
        let file: DiskFile
        let path: String
        var bytes: [UInt8]
        /// The group that lets it rest, by its index; nil if it stays open.
        var group: Int?
        var isLock = false
    }

    private static let fileCountMax = 80

    let folder = TemporaryDirectory()
    private let table = OpenFiles(limit: 16)
    private let disk: PosixDisk
    private var random: Seed
    private var live: [Live] = []
    private var groups = [RestingFiles(), RestingFiles()]
    private var createdCount = 0
    /// Reads that found the file gone.
    private(set) var goneCount = 0
    /// The largest number of files that rested.
    private(set) var restingMax = 0

    init(_ seed: Seed) {
        random = seed
        disk = PosixDisk(table)
    }

    mutating func run(stepCount: Int) throws {
        for step in 0..<stepCount {
            try takeStep()
            try check()
            if step % 100 == 0 { try #require(OpenDescriptors.count(under: folder.path) == table.count.open) }
        }
        for index in live.indices { try read(index) }
        live = []
        try #require(table.count.open == 0 && table.count.locks == 0 && table.count.resting == 0)
        try #require(OpenDescriptors.count(under: folder.path) == 0)
    }

    private mutating func takeStep() throws {
        guard !live.isEmpty else { return try create() }
        let index = random.below(live.count)
        switch random.below(100) {
        case 0..<20: try create()
        case 20..<35: letRest(index)
        case 35..<65: try read(index)
        case 65..<75: try write(index)
        case 75..<78: try lock(index)
        case 78..<86: try close(index)
        case 86..<94: try hide(index)
        case 94..<98: table.limit = 10 + random.below(50)
        default: if random.oneIn(4) { endGroup() }
        }
    }

    private mutating func create() throws {
        guard live.count < Self.fileCountMax else { return }
        createdCount += 1
        let path = "\(folder.path)/\(createdCount)"
        let file = try disk.open(path, for: .creating)
        let bytes = random.bytes(1 + random.below(300))
        try file.write(bytes, at: 0)
        live.append(Live(file: file, path: path, bytes: bytes))
    }

    private mutating func letRest(_ index: Int) {
        guard live[index].group == nil, !live[index].isLock else { return }
        let group = random.below(groups.count)
        live[index].group = group
        live[index].file.mayRest(with: groups[group])
    }

    private mutating func read(_ index: Int) throws {
        let bytes = live[index].bytes
        let start = random.below(bytes.count)
        let count = random.below(bytes.count - start + 1)
        try #require(try live[index].file.bytes(at: UInt64(start), count: count) == Array(bytes[start..<start + count]))
        try #require(try live[index].file.byteCount() == UInt64(bytes.count))
    }

    private mutating func write(_ index: Int) throws {
        guard live[index].group == nil else { return }
        let bytes = random.bytes(1 + random.below(50))
        try live[index].file.write(bytes, at: UInt64(live[index].bytes.count))
        live[index].bytes += bytes
    }

    private mutating func lock(_ index: Int) throws {
        guard live[index].group == nil else { return }
        try #require(try live[index].file.lock(byte: 0, exclusively: true))
        live[index].isLock = true
    }

    private mutating func close(_ index: Int) throws {
        let closed = live.remove(at: index)
        try disk.remove(closed.path)
        // Releasing the last reference closes it too.
        if random.oneIn(2) { return }
        closed.file.close()
        #expect(throws: DiskError.self) { try closed.file.bytes(at: 0, count: 1) }
    }

    /// Reads a file that is not at its path; one that rests cannot be read.
    private mutating func hide(_ index: Int) throws {
        let path = live[index].path
        try disk.rename(path, to: path + ".away")
        if random.oneIn(2) { try disk.createDurably(path, [0], in: folder.path) }
        let restingCount = table.count.resting
        do {
            try read(index)
        } catch let error as DiskError {
            try #require(error.code == .gone && error.path == path && live[index].group != nil)
            try #require(restingCount > 0)
            goneCount += 1
        }
        try disk.rename(path + ".away", to: path)
        try read(index)
    }

    private mutating func endGroup() {
        let ended = random.below(groups.count)
        groups[ended].end()
        groups[ended] = RestingFiles()
        // They are closed only by their handles from now on.
        for index in live.indices where live[index].group == ended { live[index].group = .max }
    }

    private mutating func check() throws {
        let count = table.count
        restingMax = max(restingMax, count.resting)
        try #require(count.open + count.resting == live.count)
        try #require(count.locks == live.count { $0.isLock })
        let stayingCount = live.count { $0.group == nil || $0.group == .max }
        try #require(count.open <= max(count.limit, stayingCount + count.limit / 4))
    }
}
