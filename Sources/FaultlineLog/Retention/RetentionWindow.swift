import FaultlineDisk

/// How far back the states of a store can be read although their segments were compacted.
package struct RetentionWindow: Sendable, Hashable {
    /// The duration, by the clock; nothing is kept for 0.
    package var nanoseconds: Int64
    /// The most bytes of files that only older states need.
    package var byteCount: UInt64

    package init(nanoseconds: Int64, byteCount: UInt64) {
        self.nanoseconds = nanoseconds
        self.byteCount = byteCount
    }

    /// Nothing is kept.
    package static let none = RetentionWindow(nanoseconds: 0, byteCount: 0)

    package var isNone: Bool { nanoseconds <= 0 || byteCount == 0 }

    // MARK: The file

    private static let magic = "retention 1"
    private static let textByteCountMax = 256

    /// The line of the file `WINDOW`: magic, nanoseconds, bytes, and the CRC32C of what precedes it.
    private var line: String {
        let text = "\(Self.magic) \(nanoseconds) \(byteCount)"
        return "\(text) \(Self.checksum(text))\n"
    }

    private static func checksum(_ text: String) -> UInt32 {
        var text = text
        return text.withUTF8 { CRC32C.checksum(UnsafeRawBufferPointer($0)) }
    }

    private init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, line.last == "\n", let nanoseconds = Int64(words[2]), let byteCount = UInt64(words[3])
        else { return nil }
        self.init(nanoseconds: nanoseconds, byteCount: byteCount)
        guard line == self.line else { return nil }
    }

    /// Reads the window of a store.
    ///
    /// - Returns: Nil if none was ever set, or the file does not verify.
    /// - Throws: Disk errors.
    static func read(in folder: String, on disk: Disk) throws(LogError) -> RetentionWindow? {
        try onDisk("reading the window of retention") { () throws(DiskError) in
            let path = folder + "/" + FileName.retentionWindow
            guard try disk.isPresent(path) else { return nil }
            let file = try disk.open(path, for: .reading)
            defer { file.close() }
            return try withUnsafeTemporaryAllocation(byteCount: textByteCountMax, alignment: 1) {
                (buffer) throws(DiskError) in
                let count = try file.read(into: buffer, at: 0)
                return RetentionWindow(
                    line: String(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<count]), as: UTF8.self))
            }
        }
    }

    /// Replaces the window of a store in one step; durable when this returns.
    func write(in folder: String, on disk: Disk) throws(LogError) {
        try onDisk("writing the window of retention") { () throws(DiskError) in
            let path = folder + "/" + FileName.retentionWindow
            let temporary = path + ".tmp"
            if try disk.isPresent(temporary) { try disk.remove(temporary) }
            let file = try disk.open(temporary, for: .creating)
            defer { file.close() }
            var bytes = Array(line.utf8)
            try bytes.withUnsafeMutableBufferPointer { (buffer) throws(DiskError) in
                try file.write(UnsafeRawBufferPointer(buffer), at: 0)
            }
            try file.synchronize(site: "retention.window")
            try disk.rename(temporary, to: path)
            try disk.synchronizeDirectory(folder, site: "retention.directory")
        }
    }
}
