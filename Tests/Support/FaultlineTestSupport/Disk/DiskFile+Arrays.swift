package import FaultlineDisk

extension DiskFile {
    /// Up to `byteCount` bytes from `offset`.
    package func bytes(at offset: UInt64, count byteCount: Int) throws(DiskError) -> [UInt8] {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        defer { memory.deallocate() }
        let read = try read(into: memory, at: offset)
        return [UInt8](UnsafeRawBufferPointer(rebasing: memory[..<read]))
    }

    /// The whole file.
    package func contents() throws(DiskError) -> [UInt8] {
        try bytes(at: 0, count: Int(try byteCount()))
    }

    /// Writes an array.
    package func write(_ bytes: [UInt8], at offset: UInt64) throws(DiskError) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { memory.deallocate() }
        memory.copyBytes(from: bytes)
        try write(UnsafeRawBufferPointer(memory), at: offset)
    }
}

extension Disk {
    /// The whole of the file at a path.
    package func contents(of path: String) throws(DiskError) -> [UInt8] {
        let file = try open(path, for: .reading)
        defer { file.close() }
        return try file.contents()
    }

    /// Creates a file of these bytes and makes both bytes and entry durable.
    package func createDurably(_ path: String, _ bytes: [UInt8], in directory: String) throws(DiskError) {
        let file = try open(path, for: .creating)
        defer { file.close() }
        try file.write(bytes, at: 0)
        try file.synchronize()
        try synchronizeDirectory(directory)
    }
}
