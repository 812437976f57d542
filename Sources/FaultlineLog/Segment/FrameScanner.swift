import FaultlineDisk

/// Reads a file's frames in order and stops at the first that does not verify.
///
/// A frame verifies if its header does at this offset, its chain is that of the previous frame, and every record in it
/// verifies. The file may hold any bytes.
///
/// Memory: one frame, 1 MiB at least.
package struct FrameScanner: ~Copyable {
    /// One frame, in the scanner's memory until the next call.
    package struct Frame {
        package let offset: UInt64
        let header: FrameHeader
        package let head: UInt32
        /// The records.
        let body: UnsafeRawBufferPointer
        package var end: UInt64 { offset + UInt64(FrameHeader.byteCount + body.count) }
    }

    private let managed: ManagedFile
    /// The end of the bytes to read.
    private let limit: UInt64
    package private(set) var offset: UInt64
    private(set) var previousHead: UInt32
    /// The end of the last frame, and its headCRC.
    package var place: (offset: UInt64, head: UInt32) { (offset, previousHead) }
    /// The largest watermark so far.
    private(set) var durable: UInt64 = 0

    private var buffer: UnsafeMutableRawBufferPointer
    private var bufferOffset: UInt64 = 0
    private var bufferCount = 0

    package init(_ managed: ManagedFile, from offset: UInt64, previousHead: UInt32, limit: UInt64) {
        self.managed = managed
        self.offset = offset
        self.previousHead = previousHead
        self.limit = limit
        buffer = BufferMemory.allocateBuffer(byteCount: 1 << 20)
    }

    deinit {
        BufferMemory.deallocate(buffer)
    }

    /// The next frame, or nil if there is no valid one.
    ///
    /// - Throws: `.newerFormat` at a frame that this version does not understand and may not skip.
    package mutating func next() throws(LogError) -> Frame? {
        guard offset + UInt64(FrameHeader.byteCount) <= limit else { return nil }
        guard let head = try bytes(FrameHeader.byteCount) else { return nil }
        guard let header = FrameHeader(reading: head, at: offset, of: managed.header),
            header.previousHead == previousHead
        else {
            return nil
        }
        guard header.isUnderstood else { throw .newerFormat("The file holds a frame", managed.path, offset) }
        let whole = FrameHeader.byteCount + header.bodyByteCount
        guard offset + UInt64(whole) <= limit, let frame = try bytes(whole) else { return nil }
        let body = UnsafeRawBufferPointer(start: frame + FrameHeader.byteCount, count: header.bodyByteCount)
        guard
            header.isSkippable
                ? CRC32C.checksum(body) == header.headersCRC : Self.isValid(body, header, at: offset, of: managed)
        else { return nil }
        let result = Frame(offset: offset, header: header, head: frame[FrameHeader.Fields.checksum], body: body)
        offset = result.end
        previousHead = result.head
        durable = max(durable, header.durable)
        return result
    }

    /// The frame at `offset`, whose position in the chain is known to be right.
    mutating func nextUnchained() throws(LogError) -> Frame? {
        guard let head = try bytes(FrameHeader.byteCount) else { return nil }
        previousHead = head[FrameHeader.Fields.previousHead]
        return try next()
    }

    /// Whether the records fill the body, each verifies, and their headers are those of the frame's writing.
    private static func isValid(
        _ body: UnsafeRawBufferPointer, _ header: FrameHeader, at offset: UInt64, of managed: ManagedFile
    ) -> Bool {
        guard let start = body.baseAddress else { return header.recordCount == 0 }
        var place = 0
        var headersCRC: UInt32 = 0
        for _ in 0..<header.recordCount {
            let binding = managed.recordBinding(at: offset + UInt64(FrameHeader.byteCount + place))
            guard let whole = RecordHeader.verify(start + place, limit: body.count - place, binding: binding) else {
                return false
            }
            headersCRC = CRC32C.checksum(start + place, RecordHeader.byteCount, seed: headersCRC)
            place += whole
        }
        return place == body.count && headersCRC == header.headersCRC
    }

    /// Whether the file ends inside the frame where `next` stopped: inside its header, or, if that verifies, behind it.
    mutating func isCutOff() throws(LogError) -> Bool {
        guard offset + UInt64(FrameHeader.byteCount) <= limit else { return true }
        guard let head = try bytes(FrameHeader.byteCount),
            let header = FrameHeader(reading: head, at: offset, of: managed.header),
            header.previousHead == previousHead
        else { return false }
        return offset + UInt64(FrameHeader.byteCount + header.bodyByteCount) > limit
    }

    /// The largest watermark of valid headers behind the offset where `next` stopped.
    package mutating func largestWatermarkBehind() throws(LogError) -> UInt64 {
        var largest: UInt64 = 0
        try forEachHeadBehind { header, _ in largest = max(largest, header.durable) }
        return largest
    }

    /// Calls `body` with every valid header behind the offset where `next` stopped, and its offset; tries every
    /// multiple of 8.
    mutating func forEachHeadBehind(_ body: (FrameHeader, UInt64) -> Void) throws(LogError) {
        var place = offset.roundedUpTo8
        while place + UInt64(FrameHeader.byteCount) <= limit {
            offset = place
            guard let start = try bytes(FrameHeader.byteCount) else { break }
            let count = bufferCount - Int(place - bufferOffset)
            var step = 0
            while step + FrameHeader.byteCount <= count {
                let offset = place + UInt64(step)
                if let header = FrameHeader(reading: start + step, at: offset, of: managed.header) {
                    body(header, offset)
                }
                step += 8
            }
            place += UInt64(step)
        }
    }

    /// `count` bytes from `offset`, or nil if the file ends before.
    private mutating func bytes(_ count: Int) throws(LogError) -> UnsafeRawPointer? {
        let start = Int(offset &- bufferOffset)
        if offset >= bufferOffset, start + count <= bufferCount, let base = buffer.baseAddress {
            return UnsafeRawPointer(base) + start
        }
        if count > buffer.count {
            BufferMemory.deallocate(buffer)
            buffer = BufferMemory.allocateBuffer(byteCount: count)
        }
        let wanted = Int(min(UInt64(buffer.count), limit - offset))
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<wanted])
        let place = offset
        let file = managed.file
        bufferCount = try onDisk("reading frames") { () throws(DiskError) in try file.read(into: target, at: place) }
        bufferOffset = offset
        guard count <= bufferCount, let base = buffer.baseAddress else { return nil }
        return UnsafeRawPointer(base)
    }
}
