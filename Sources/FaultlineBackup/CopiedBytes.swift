internal import FaultlineDisk
internal import FaultlineLog

/// Copies parts of files at a bounded rate, with their checksum.
///
/// Memory: 1 MiB.
struct CopiedBytes: ~Copyable {
    private let disk: Disk
    private let clock: Clock
    private let options: BackupOptions
    private let buffer: UnsafeMutableRawBufferPointer
    private let begun: UInt64
    /// Bytes copied so far.
    private(set) var byteCount: UInt64 = 0
    /// All bytes to copy, for the progress.
    var total: UInt64 = 0

    private static let bufferByteCount = 1 << 20
    /// The lowest rate, in bytes a second.
    private static let leastRate: UInt64 = 1 << 20

    init(_ disk: Disk, _ clock: Clock, _ options: BackupOptions) {
        self.disk = disk
        self.clock = clock
        self.options = options
        buffer = BufferMemory.allocateBuffer(byteCount: Self.bufferByteCount)
        begun = clock.monotonicNanoseconds()
    }

    deinit {
        BufferMemory.deallocate(buffer)
    }

    /// Copies a part of a file to the same place of another one, which is made if it is not there; durable when this
    /// returns.
    ///
    /// - Parameters:
    ///   - source: The path of the file.
    ///   - range: The part.
    ///   - target: The path of the copy.
    ///   - checksum: That of the bytes before the part.
    ///   - earlier: A copy of the file, and its length: each of its bytes that is not 0 must be the same.
    /// - Returns: The checksum of the bytes through the part.
    /// - Throws: `BackupError` of code `damaged` if the file ends before; `LogError` if the disk fails.
    mutating func copy(
        _ source: String, _ range: Range<UInt64>, to target: String, checksum: UInt32 = 0,
        like earlier: (path: String, byteCount: UInt64)? = nil
    ) throws -> UInt32 {
        let comparison = try earlier.map { (earlier) throws(LogError) in
            try EarlierCopy(earlier.path, byteCount: earlier.byteCount, on: disk)
        }
        defer { comparison?.close() }
        let writing = try onDisk("writing a backup") { () throws(DiskError) in try disk.openOrCreate(target) }
        defer { writing.close() }
        var difference: UInt64?
        let checksum = try read(source, range, checksum: checksum) { (bytes, offset) throws(DiskError) in
            if difference == nil { difference = try comparison?.difference(bytes, at: offset) }
            try writing.write(bytes, at: offset)
        }
        if let difference {
            throw BackupError(
                .damaged,
                "The file differs at byte \(difference) from its copy in an earlier backup, \(earlier?.path ?? ""), although its bytes do not change. One of the two is damaged: verify the store.",
                path: source)
        }
        try onDisk("writing a backup") { () throws(DiskError) in try writing.synchronize(site: "backup.file") }
        return checksum
    }

    /// The checksum of the first bytes of a file.
    mutating func checksum(of path: String, byteCount: UInt64) throws -> UInt32 {
        try read(path, 0..<byteCount, checksum: 0) { _, _ in }
    }

    private mutating func read(
        _ path: String, _ range: Range<UInt64>, checksum: UInt32,
        _ body: (UnsafeRawBufferPointer, UInt64) throws(DiskError) -> Void
    ) throws -> UInt32 {
        let reading = try onDisk("reading a file") { () throws(DiskError) in try disk.open(path, for: .reading) }
        defer { reading.close() }
        var checksum = checksum
        var offset = range.lowerBound
        while offset < range.upperBound {
            let part = UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<Int(min(UInt64(buffer.count), range.upperBound - offset))])
            let count = try onDisk("reading a file") { () throws(DiskError) in
                try reading.read(into: part, at: offset)
            }
            guard count == part.count else {
                throw BackupError(
                    .damaged, "The file ends at byte \(offset + UInt64(count)), and had \(range.upperBound) bytes.",
                    path: path)
            }
            let bytes = UnsafeRawBufferPointer(part)
            checksum = CRC32C.checksum(bytes, seed: checksum)
            try onDisk("writing a copy") { () throws(DiskError) in try body(bytes, offset) }
            offset += UInt64(count)
            byteCount += UInt64(count)
            options.progress(byteCount, max(total, byteCount))
            pause()
        }
        return checksum
    }

    /// Waits until the bytes so far are due.
    private func pause() {
        guard let rate = options.bytesPerSecond.map({ max(UInt64(max($0, 0)), Self.leastRate) }) else { return }
        let due = UInt64(Double(byteCount) / Double(rate) * 1e9)
        let spent = clock.monotonicNanoseconds() &- begun
        if due > spent { options.sleep(due - spent) }
    }

    /// Whether two files have the same bytes in a part.
    func areEqual(_ first: String, _ second: String, in range: Range<UInt64>) throws(LogError) -> Bool {
        try onDisk("comparing a file with its copy") { () throws(DiskError) in
            func bytes(_ path: String) throws(DiskError) -> [UInt8] {
                let file = try disk.open(path, for: .reading)
                defer { file.close() }
                var bytes = [UInt8](repeating: 0, count: Int(range.upperBound - range.lowerBound))
                let count = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(DiskError) in
                    try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: range.lowerBound)
                }
                return Array(bytes[..<count])
            }
            return try bytes(first) == bytes(second)
        }
    }
}
