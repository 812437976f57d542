import FaultlineDisk

/// Appends to a file through a buffer.
struct RunOutput: ~Copyable {
    static let bufferByteCount = 64 << 10

    let file: DiskFile
    private let buffer: UnsafeMutableRawPointer
    private var used = 0
    private var writtenByteCount: UInt64 = 0

    init(file: DiskFile) {
        self.file = file
        buffer = BufferMemory.allocate(byteCount: Self.bufferByteCount)
    }

    deinit {
        BufferMemory.deallocate(buffer, byteCount: Self.bufferByteCount)
    }

    /// Bytes of the file so far.
    var offset: UInt64 { writtenByteCount + UInt64(used) }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(LogError) {
        var rest = bytes
        while rest.count > Self.bufferByteCount - used {
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.bufferByteCount - used))
            copy(part)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
            try flush()
        }
        copy(rest)
    }

    /// Writes the buffered bytes; they are not durable.
    mutating func flush() throws(LogError) {
        do {
            try file.write(UnsafeRawBufferPointer(start: buffer, count: used), at: writtenByteCount)
        } catch {
            throw LogError(error)
        }
        writtenByteCount += UInt64(used)
        used = 0
    }

    private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        (buffer + used).copyMemory(from: source, byteCount: bytes.count)
        used += bytes.count
    }
}
