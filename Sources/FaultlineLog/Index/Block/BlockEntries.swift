/// The entries of a block, in arrays that follow each other.
///
/// `keysOffset` may be read from an unverified header. Everything else is for entries that lie inside the block, which
/// `IndexBlock.problem` ensures. The numbers of an array are as wide as the largest needs. A number is read as a word
/// that *ends* where the number does, and shifted: the bytes before it belong to the block, at worst to its header. So
/// no read leaves the block and no step depends on a width.
struct BlockEntries {
    let start: UnsafeRawPointer
    let count: Int
    /// A length has two bytes, not one.
    let hasLongLengths: Bool
    /// 0 to 6.
    let idByteCount: Int
    /// 0 to 8.
    let sequenceByteCount: Int

    /// The entries of the block whose header is at `start`.
    @inline(__always)
    init(_ start: UnsafeRawPointer) {
        self.start = start
        let form = start[IndexBlock.Fields.form]
        count = Int(start[IndexBlock.Fields.entryCount])
        hasLongLengths = form & IndexBlock.formLongLengths != 0
        idByteCount = Int(form & ~IndexBlock.formLongLengths)
        sequenceByteCount = Int(start[IndexBlock.Fields.sequenceByteCount])
    }

    /// The bytes that an entry's key shares with the previous key, and those that it adds.
    struct Lengths {
        let shared: Int
        let further: Int

        @inline(__always)
        init(shared: Int, further: Int) {
            self.shared = shared
            self.further = further
        }

        /// Reads both numbers at `place`, of the given width.
        @inline(__always)
        init<Width: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
            _ place: UnsafeRawPointer, as width: Width.Type
        ) {
            shared = Int(truncatingIfNeeded: Width(littleEndian: place.loadUnaligned(as: width)))
            further = Int(
                truncatingIfNeeded: Width(
                    littleEndian: place.loadUnaligned(fromByteOffset: MemoryLayout<Width>.size, as: width)))
        }

        @inline(__always) var key: Int { shared &+ further }
    }

    @inline(__always)
    func lengths(_ ordinal: Int) -> Lengths {
        let place = lengthArray + ordinal &* lengthsByteCount
        return hasLongLengths ? Lengths(place, as: UInt16.self) : Lengths(place, as: UInt8.self)
    }

    @inline(__always)
    func id(_ ordinal: Int) -> UInt64 {
        start[IndexBlock.Fields.smallestID] &+ number(ordinal, in: idArray, idByteCount)
    }

    @inline(__always)
    func sequence(_ ordinal: Int) -> UInt64 {
        start[IndexBlock.Fields.smallestSequence] &+ number(ordinal, in: sequenceArray, sequenceByteCount) &>> 1
    }

    @inline(__always)
    func isDelete(_ ordinal: Int) -> Bool {
        number(ordinal, in: sequenceArray, sequenceByteCount) & 1 != 0
    }

    /// The further key bytes of all entries, one after the other.
    @inline(__always) var keys: UnsafeRawPointer { start + keysOffset }

    /// Bytes of the header and of all arrays but the keys.
    @inline(__always) var keysOffset: Int {
        IndexBlock.headerByteCount &+ count &* (lengthsByteCount &+ idByteCount &+ sequenceByteCount)
    }

    /// The first entry's key, which is stored whole.
    var firstKey: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: keys, count: lengths(0).further) }

    /// The address of the first entry's lengths.
    @inline(__always) var lengthArray: UnsafeRawPointer { start + IndexBlock.headerByteCount }

    /// Bytes of an entry's two lengths together.
    @inline(__always) private var lengthsByteCount: Int { hasLongLengths ? 4 : 2 }
    @inline(__always) private var idArray: Int { IndexBlock.headerByteCount &+ count &* lengthsByteCount }
    @inline(__always) private var sequenceArray: Int { idArray &+ count &* idByteCount }

    @inline(__always)
    private func number(_ ordinal: Int, in array: Int, _ width: Int) -> UInt64 {
        let word = start.u64(array &+ (ordinal &+ 1) &* width &- 8)
        // A shift by 64, where the numbers have no bytes, leaves 0.
        return word >> UInt64(64 &- 8 &* width)
    }
}
