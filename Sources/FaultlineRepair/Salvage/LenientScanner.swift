import FaultlineDisk
import FaultlineLog

/// Reads a file of frames that may be damaged anywhere, from its first byte to its last.
///
/// A frame whose header verifies is returned, with any body and any chain. Elsewhere the scan continues at the next
/// frame header or record that verifies, tried at every multiple of 8. Both are bound to their offset, so copied or
/// stale bytes do not count as one.
///
/// Bytes that the disk cannot read count as zeros, which never verify.
///
/// Memory: one frame, 1 MiB at least.
struct LenientScanner: ~Copyable {
    /// A piece of the file.
    enum Piece {
        case frame(LenientFrame)
        /// A record that verifies outside of any frame whose header verifies.
        case record(RecordHeader, at: UInt64, UnsafeRawPointer)
        /// Bytes that belong to no frame or record.
        case lost(Range<UInt64>)
    }

    private static let blockByteCount = 4_096

    private let managed: ManagedFile
    private let limit: UInt64
    private(set) var offset: UInt64

    private var buffer: UnsafeMutableRawBufferPointer
    private var bufferOffset: UInt64 = 0
    private var bufferCount = 0

    /// - Parameters:
    ///   - managed: The file.
    ///   - offset: The start, a multiple of 8.
    ///   - limit: Bytes from here on are not read; at most the largest offset of a location.
    init(_ managed: ManagedFile, from offset: UInt64, limit: UInt64) {
        self.managed = managed
        self.offset = offset
        self.limit = limit
        let wanted = limit > offset ? min(limit - offset, 1 << 20) : 0
        buffer = BufferMemory.allocateBuffer(byteCount: max(Int(wanted), FrameHeader.byteCount))
    }

    deinit {
        BufferMemory.deallocate(buffer)
    }

    /// The next piece, or nil at the end.
    ///
    /// - Throws: Disk errors, except for bytes that the disk cannot read.
    mutating func next() throws(LogError) -> Piece? {
        let start = offset
        while offset + UInt64(RecordHeader.byteCount) <= limit {
            if let header = try head() {
                if start < offset { return .lost(start..<offset) }
                let wanted = Int(min(UInt64(FrameHeader.byteCount + header.bodyByteCount), limit - offset))
                let bytes = try bytes(wanted)
                let body = UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.byteCount...])
                let frame = LenientFrame(managed: managed, offset: offset, header: header, body: body)
                offset += UInt64(wanted)
                return .frame(frame)
            }
            if let header = try record() {
                if start < offset { return .lost(start..<offset) }
                guard let bytes = try bytes(header.wholeByteCount).baseAddress else { return nil }
                let place = offset
                offset += UInt64(header.wholeByteCount)
                return .record(header, at: place, bytes)
            }
            offset += 8
        }
        guard start < limit else { return nil }
        offset = limit
        return .lost(start..<limit)
    }

    /// The frame header at `offset`, if there is one.
    private mutating func head() throws(LogError) -> FrameHeader? {
        guard offset + UInt64(FrameHeader.byteCount) <= limit else { return nil }
        guard let start = try bytes(FrameHeader.byteCount).baseAddress else { return nil }
        // Excludes nearly all other bytes without computing the checksum.
        guard start[FrameHeader.Fields.kind] != 0, start[FrameHeader.Fields.bodyByteCount] & 7 == 0,
            start[FrameHeader.Fields.durable] <= offset
        else { return nil }
        return FrameHeader(reading: start, at: offset, of: managed.header)
    }

    /// The header of the record at `offset`, if there is one that verifies.
    private mutating func record() throws(LogError) -> RecordHeader? {
        guard let start = try bytes(RecordHeader.byteCount).baseAddress else { return nil }
        let header = RecordHeader(reading: start)
        let rest = Int(min(limit - offset, UInt64(Limits.frameBodyByteCountMax)))
        guard header.isPlausible(limit: rest), header.wholeByteCount <= rest else { return nil }
        guard let whole = try bytes(header.wholeByteCount).baseAddress else { return nil }
        let binding = managed.recordBinding(at: offset)
        return RecordHeader.verify(whole, limit: header.wholeByteCount, binding: binding) == nil ? nil : header
    }

    /// `count` bytes from `offset`, all of which lie before `limit`.
    private mutating func bytes(_ count: Int) throws(LogError) -> UnsafeRawBufferPointer {
        if offset >= bufferOffset, offset - bufferOffset + UInt64(count) <= UInt64(bufferCount) {
            let start = Int(offset - bufferOffset)
            return UnsafeRawBufferPointer(rebasing: buffer[start..<(start + count)])
        }
        if count > buffer.count {
            BufferMemory.deallocate(buffer)
            buffer = BufferMemory.allocateBuffer(byteCount: count)
        }
        let wanted = Int(min(UInt64(buffer.count), limit - offset))
        try fill(UnsafeMutableRawBufferPointer(rebasing: buffer[0..<wanted]))
        bufferOffset = offset
        bufferCount = wanted
        return UnsafeRawBufferPointer(rebasing: buffer[0..<count])
    }

    /// Reads from `offset`; block by block if the disk fails, with zeros for bytes that it cannot read.
    private func fill(_ target: UnsafeMutableRawBufferPointer) throws(LogError) {
        if try read(into: target, at: offset) { return }
        var done = 0
        while done < target.count {
            let place = offset + UInt64(done)
            let count = min(Self.blockByteCount - Int(place % UInt64(Self.blockByteCount)), target.count - done)
            _ = try read(into: UnsafeMutableRawBufferPointer(rebasing: target[done..<(done + count)]), at: place)
            done += count
        }
    }

    /// - Returns: False, and zeros, if the disk cannot read the bytes.
    private func read(into target: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Bool {
        var count = 0
        do {
            count = try managed.file.read(into: target, at: offset)
        } catch {
            guard error.code == .ioFailure else { throw LogError(error, doing: "reading a damaged file") }
            UnsafeMutableRawBufferPointer(rebasing: target[0...]).initializeMemory(as: UInt8.self, repeating: 0)
            return false
        }
        UnsafeMutableRawBufferPointer(rebasing: target[count...]).initializeMemory(as: UInt8.self, repeating: 0)
        return true
    }
}
