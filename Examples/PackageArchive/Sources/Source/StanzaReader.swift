import Glibc

/// Cuts a stream of bytes into stanzas: runs of lines between empty lines, the form of Debian's control files.
///
/// Holds one stanza and one read-ahead piece in memory, for a stream of any length. A line that ends with CR LF is read
/// as one that ends with LF.
struct StanzaReader: ~Copyable {
    /// One stanza as it is in the stream.
    struct Stanza {
        /// Its lines, valid only while the body runs.
        let bytes: UnsafeRawBufferPointer
        /// The number of its first line, counted from 1.
        let line: Int
    }

    /// Fills the memory it is given and says how many bytes it put there; 0 ends the stream.
    typealias Read = (UnsafeMutableRawBufferPointer) throws(SourceError) -> Int

    /// Bytes asked for in one read.
    static let pieceByteCount = 1 << 20

    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceByteCount * 2, alignment: 16)
    /// Where the unfinished stanza begins, how far its lines were scanned, and where the bytes end.
    private var start = 0
    private var scanned = 0
    private var end = 0
    /// The number of the line at `start`, and how many lines lie between there and `scanned`.
    private var line = 1
    private var lineCount = 0

    deinit { buffer.deallocate() }

    /// Reads to the end of the stream and hands each stanza to `body`, never an empty one.
    mutating func forEachStanza(read: Read, _ body: (Stanza) -> Void) throws(SourceError) {
        while true {
            makeRoom()
            let count = try read(UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))
            end += count
            scan(isLast: count == 0, body)
            if count == 0 { return }
        }
    }

    /// Hands out the stanzas that are complete; with `isLast`, the end of the bytes completes one too.
    private mutating func scan(isLast: Bool, _ body: (Stanza) -> Void) {
        let all = UnsafeRawBufferPointer(buffer)
        while scanned < end {
            let rest = all.part(scanned..<end)
            guard let length = rest.firstNewline ?? (isLast ? rest.count : nil) else { break }
            let isEmpty = length == 0 || (length == 1 && rest[0] == UInt8(ascii: "\r"))
            let next = min(scanned + length + 1, end)
            if isEmpty {
                if scanned > start { body(Stanza(bytes: all.part(start..<scanned), line: line)) }
                line += lineCount + 1
                lineCount = 0
                start = next
            } else {
                lineCount += 1
            }
            scanned = next
        }
        if isLast && start < end { body(Stanza(bytes: all.part(start..<end), line: line)) }
    }

    /// Moves the unfinished stanza to the front and makes room for a whole piece after it.
    private mutating func makeRoom() {
        let count = end - start
        if start > 0, let base = buffer.baseAddress {
            memmove(base, base + start, count)
            scanned -= start
            start = 0
            end = count
        }
        guard buffer.count - end < Self.pieceByteCount else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<end]))
        buffer.deallocate()
        buffer = larger
    }
}

extension UnsafeRawBufferPointer {
    /// The place of the first line feed, or nil.
    @inline(__always)
    var firstNewline: Int? { firstPlace(of: UInt8(ascii: "\n")) }

    /// The place of the first such byte, or nil.
    @inline(__always)
    func firstPlace(of byte: UInt8) -> Int? {
        guard let base = baseAddress, let found = memchr(base, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// The part without blanks, tabs, carriage returns and line feeds at either end.
    @inline(__always)
    var trimmed: UnsafeRawBufferPointer {
        var low = 0
        var high = count
        while low < high, self[low].isBlank { low += 1 }
        while high > low, self[high - 1].isBlank { high -= 1 }
        return part(low..<high)
    }

    /// The part of these bytes.
    @inline(__always)
    func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[range]) }
}

extension UInt8 {
    /// Whether this byte separates words: blank, tab, carriage return, line feed.
    @inline(__always)
    var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0A }
}
