import FaultlineDisk
import Synchronization

/// Memory that only grows and never moves: chunks of 4 KiB, 8 KiB, and so on.
///
/// An entry lies whole in one chunk. A reference of 32 bits names it, which counts units of 8 bytes over all chunks, 32
/// GiB at most. Because each chunk is twice the size of the one before, the highest bit of a reference gives its chunk,
/// and the list of chunks has a fixed size. Untouched pages of a chunk take address space, not memory.
///
/// Concurrency: one writer. A reader may follow every reference that it loaded, with acquiring order, from a value that
/// the writer published after the entry was complete: a slot of the hash table, or `end`.
struct MemtableArena: ~Copyable {
    /// Units of 8 bytes from the arena's start.
    typealias Reference = UInt32

    /// No entry: the first unit is never used.
    static let none: Reference = 0

    private static let chunkCountMax = 23
    private static let firstChunkUnits: UInt64 = 512

    private struct Chunk {
        var start: UnsafeMutableRawPointer?
        /// Bytes in use; changed by the writer, read up to the published end only.
        var used = 0
    }

    /// Written by the writer before it publishes a reference into the chunk.
    private let chunks: UnsafeMutablePointer<Chunk>
    /// The position of the next entry: chunk number and byte in it.
    ///
    /// Only the writer uses it.
    private let cursor: UnsafeMutablePointer<Position>
    /// The published end.
    private let published: Atomic<UInt64>

    /// A position between entries.
    struct Position: Equatable {
        var chunk: Int
        /// Bytes from the chunk's start.
        var offset: Int
    }

    init() {
        chunks = .allocate(capacity: Self.chunkCountMax)
        chunks.initialize(repeating: Chunk(), count: Self.chunkCountMax)
        chunks[0] = Chunk(start: BufferMemory.allocate(byteCount: Self.byteCount(ofChunk: 0)), used: 8)
        cursor = .allocate(capacity: 1)
        cursor.initialize(to: Position(chunk: 0, offset: 8))
        published = Atomic(Self.pack(Position(chunk: 0, offset: 8)))
    }

    deinit {
        for number in 0..<Self.chunkCountMax {
            guard let start = chunks[number].start else { continue }
            BufferMemory.deallocate(start, byteCount: Self.byteCount(ofChunk: number))
        }
        chunks.deallocate()
        cursor.deallocate()
    }

    /// The position of the first entry.
    static let start = Position(chunk: 0, offset: 8)

    /// The end of the entries that readers may visit.
    var end: Position {
        let packed = published.load(ordering: .acquiring)
        return Position(chunk: Int(packed >> 48), offset: Int(packed & 0xFFFF_FFFF_FFFF))
    }

    /// Bytes touched so far: the arena's memory, but for the rest of a page.
    var usedByteCount: Int {
        let end = self.end
        var byteCount = end.offset
        for number in 0..<end.chunk { byteCount += chunks[number].used }
        return byteCount
    }

    /// The address of a reference.
    @inline(__always)
    func address(_ reference: Reference) -> UnsafeMutableRawPointer {
        let unit = UInt64(reference) &+ Self.firstChunkUnits
        let number = 54 &- unit.leadingZeroBitCount
        let offset = Int(
            truncatingIfNeeded: (unit &- (Self.firstChunkUnits &<< UInt64(truncatingIfNeeded: number))) &* 8)
        // A reference exists only after its chunk does.
        return chunks[number].start.unsafelyUnwrapped + offset
    }

    /// Allocates `byteCount` bytes for an entry, a multiple of 8.
    ///
    /// Only the writer calls it; `publish` makes the entry visible to walks.
    @inline(__always)
    func allocate(_ byteCount: Int) -> (address: UnsafeMutableRawPointer, reference: Reference) {
        if Self.byteCount(ofChunk: cursor.pointee.chunk) &- cursor.pointee.offset < byteCount {
            beginChunk(for: byteCount)
        }
        let number = cursor.pointee.chunk, offset = cursor.pointee.offset
        cursor.pointee.offset = offset &+ byteCount
        let unit = (Self.firstChunkUnits &<< UInt64(truncatingIfNeeded: number)) &- Self.firstChunkUnits
        let reference = Reference(truncatingIfNeeded: unit &+ UInt64(truncatingIfNeeded: offset &>> 3))
        return (chunks[number].start.unsafelyUnwrapped + offset, reference)
    }

    /// Makes all allocated entries visible to walks.
    @inline(__always)
    func publish() {
        published.store(Self.pack(cursor.pointee), ordering: .releasing)
    }

    /// Calls `body` with each entry between two positions, in the order of insertion.
    @inline(__always)
    func forEachEntry(from start: Position, to end: Position, _ body: (MemtableEntry) -> Void) {
        var position = start
        while position != end {
            let chunk = chunks[position.chunk]
            let limit = position.chunk == end.chunk ? end.offset : chunk.used
            if let start = chunk.start {
                while position.offset < limit {
                    let entry = MemtableEntry(start + position.offset)
                    body(entry)
                    position.offset &+= MemtableEntry.byteCount(keyByteCount: entry.keyByteCount)
                }
            }
            if position.chunk == end.chunk { return }
            position = Position(chunk: position.chunk + 1, offset: 0)
        }
    }

    @inline(never)
    private func beginChunk(for byteCount: Int) {
        chunks[cursor.pointee.chunk].used = cursor.pointee.offset
        var number = cursor.pointee.chunk + 1
        // Chunks too small for this entry stay empty.
        while number < Self.chunkCountMax, Self.byteCount(ofChunk: number) < byteCount { number += 1 }
        precondition(number < Self.chunkCountMax, "A memtable holds 32 GiB at most; flush it earlier.")
        chunks[number].start = BufferMemory.allocate(byteCount: Self.byteCount(ofChunk: number))
        cursor.pointee = Position(chunk: number, offset: 0)
    }

    @inline(__always)
    private static func byteCount(ofChunk number: Int) -> Int { 4096 &<< number }

    @inline(__always)
    private static func pack(_ position: Position) -> UInt64 {
        UInt64(truncatingIfNeeded: position.chunk) &<< 48 | UInt64(truncatingIfNeeded: position.offset)
    }
}
