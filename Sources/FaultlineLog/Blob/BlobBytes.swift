/// The payload of one blob, which may lie in several frames.
struct BlobBytes {
    let managed: ManagedFile
    let layout: BlobLayout

    /// Reads a part of the payload; it may lie in two frames.
    func read(into target: UnsafeMutableRawBufferPointer, at payloadOffset: UInt64) throws(LogError) {
        var done = 0
        while done < target.count {
            let offset = payloadOffset + UInt64(done)
            let count = min(target.count - done, Int(min(layout.contiguous(from: offset), UInt64(Int.max))))
            try managed.read(
                into: UnsafeMutableRawBufferPointer(rebasing: target[done..<(done + count)]),
                at: layout.place(of: offset), "reading a blob")
            done += count
        }
    }

    /// The checksum seed of an offset in the payload.
    func seed(at payloadOffset: UInt64) -> UInt32 { managed.header.seed(at: layout.place(of: payloadOffset)) }
}
