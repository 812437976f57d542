import FaultlineDisk

/// The headers of a blob segment's frames, in order.
///
/// An abandoned blob leaves bytes without a frame. Behind these, every multiple of 8 is checked for a header. The file
/// may hold any bytes, and end anywhere.
///
/// Memory: 64 KiB.
struct BlobHeads: ~Copyable {
    private static let bufferByteCount = 1 << 16
    /// Bytes to read where a frame is expected: its header, and those of small blobs behind it.
    private static let expectedByteCount = 4_096

    private let managed: ManagedFile
    private let limit: UInt64
    private var offset: UInt64
    /// Whether `offset` is the end of the previous frame.
    private var isExpected = true

    private let buffer: UnsafeMutableRawBufferPointer
    private var bufferOffset: UInt64 = 0
    private var bufferCount = 0

    /// - Parameters:
    ///   - managed: The segment's file.
    ///   - offset: The first offset, behind the file's header.
    ///   - limit: Bytes of the file.
    init(_ managed: ManagedFile, from offset: UInt64, limit: UInt64) {
        self.managed = managed
        self.offset = offset.roundedUpTo8
        self.limit = limit
        buffer = BufferMemory.allocateBuffer(byteCount: Self.bufferByteCount)
    }

    deinit {
        BufferMemory.deallocate(buffer)
    }

    /// The next header that verifies and its offset, or nil at the file's end.
    mutating func next() throws(LogError) -> (header: FrameHeader, offset: UInt64)? {
        while offset < limit, limit - offset >= UInt64(FrameHeader.byteCount) {
            guard let start = try head() else { return nil }
            let place = offset
            // A cheap check first: between frames nearly every offset fails it.
            if start[FrameHeader.Fields.kind] == FrameKind.blob.rawValue,
                start[FrameHeader.Fields.bodyByteCount] & 7 == 0, start[FrameHeader.Fields.durable] <= place,
                let header = FrameHeader(reading: start, at: place, of: managed.header)
            {
                offset = place + UInt64(FrameHeader.byteCount + header.bodyByteCount)
                isExpected = true
                return (header, place)
            }
            offset = place + 8
            isExpected = false
        }
        return nil
    }

    /// The bytes of a header at `offset`, or nil if the file has become shorter.
    private mutating func head() throws(LogError) -> UnsafeRawPointer? {
        guard let base = UnsafeRawPointer(buffer.baseAddress) else { return nil }
        if offset >= bufferOffset, offset - bufferOffset + UInt64(FrameHeader.byteCount) <= UInt64(bufferCount) {
            return base + Int(offset - bufferOffset)
        }
        let wanted = min(UInt64(isExpected ? Self.expectedByteCount : Self.bufferByteCount), limit - offset)
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<Int(wanted)])
        let place = offset
        bufferCount = try onDisk("reading a blob segment") { () throws(DiskError) in
            try managed.file.read(into: target, at: place)
        }
        bufferOffset = place
        return bufferCount >= FrameHeader.byteCount ? base : nil
    }
}
