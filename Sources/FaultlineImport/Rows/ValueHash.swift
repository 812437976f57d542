#if Import
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A hash of one value and the number of its object, which pieces of the value are added to.
///
/// The hash of a column is the sum of those of its values: the order of objects does not matter.
struct ValueHash {
    private var state: UInt64
    private var byteCount: UInt64 = 0

    @inline(__always)
    init(_ number: UInt64) { state = Self.mix(number &* 0x9E37_79B9_7F4A_7C15 &+ 1) }

    @inline(__always)
    private static func mix(_ word: UInt64) -> UInt64 {
        var word = (word ^ (word >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        word = (word ^ (word >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return word ^ (word >> 33)
    }

    @inline(__always)
    mutating func add(_ word: UInt64) {
        state = Self.mix(state ^ word)
        byteCount &+= 8
    }

    /// Adds bytes; all pieces but the last have a multiple of eight.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index &+ 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
            state ^= state >> 29
            index &+= 8
        }
        var last: UInt64 = 0
        var shift: UInt64 = 0
        while index < bytes.count {
            last |= UInt64(bytes[index]) << shift
            shift &+= 8
            index &+= 1
        }
        if shift > 0 { state = Self.mix(state ^ last) }
        byteCount &+= UInt64(bytes.count)
    }

    var value: UInt64 {
        @inline(__always) get { Self.mix(state ^ byteCount) }
    }
}

/// The values of one property on one side.
struct ColumnTally: Hashable {
    /// Values that are not nil.
    var count = 0
    /// Bytes of their stored form.
    var byteCount = 0
    /// The sum of their hashes.
    var hash: UInt64 = 0

    @inline(__always)
    mutating func add(_ valueHash: ValueHash, byteCount: Int) {
        count &+= 1
        self.byteCount &+= byteCount
        hash &+= valueHash.value
    }
}

/// The getters that rows and drafts share.
protocol StoredValues {
    func isNil(_ slot: Int) -> Bool
    func int64(_ slot: Int) -> Int64
    func double(_ slot: Int) -> Double
    func float(_ slot: Int) -> Float
    func bool(_ slot: Int) -> Bool
    func uuid(_ slot: Int) -> (UInt64, UInt64)
    func decimal(_ slot: Int) -> StoredDecimal
    func toOne(_ slot: Int) -> UInt64
    func variable(_ slot: Int) -> UnsafeRawBufferPointer
    func blobReference(_ slot: Int) -> BlobReference?
    func orderKey(_ slot: Int) -> UInt64?
}

extension RowView: StoredValues {}
extension Draft: StoredValues {}

/// The values of one entity's objects on one side, by slot.
struct EntityTally: Hashable {
    var objectCount = 0
    var columns: [ColumnTally]

    init(_ slotCount: Int) { columns = Array(repeating: ColumnTally(), count: slotCount) }

    /// Adds an object's values, but for large ones, which `addLarge` takes.
    ///
    /// - Returns: The slots of large values.
    @inline(__always)
    mutating func add(
        _ values: some StoredValues, _ number: UInt64, _ entity: EntityStorage, skipping large: [LargeValue] = []
    ) -> [(slot: Int, reference: BlobReference)] {
        objectCount += 1
        var references: [(slot: Int, reference: BlobReference)] = []
        for (slot, column) in entity.layout.columns.enumerated() {
            switch column.kind {
            case .attribute(let kind):
                guard !values.isNil(slot), !large.contains(where: { $0.slot == slot }) else { continue }
                if column.isVariable, let reference = values.blobReference(slot) {
                    references.append((slot, reference))
                } else {
                    add(values, slot, kind, number)
                }
            case .toOne:
                let target = values.toOne(slot)
                guard target != 0 else { continue }
                var hash = ValueHash(number)
                hash.add(target)
                hash.add(values.orderKey(slot) ?? 0)
                columns[slot].add(hash, byteCount: 8)
            case .link, .toMany: break
            }
        }
        return references
    }

    @inline(__always)
    private mutating func add(_ values: some StoredValues, _ slot: Int, _ kind: AttributeKind, _ number: UInt64) {
        var hash = ValueHash(number)
        switch kind {
        case .bool:
            hash.add(values.bool(slot) ? 1 : 0)
            columns[slot].add(hash, byteCount: 1)
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64:
            hash.add(UInt64(bitPattern: values.int64(slot)))
            columns[slot].add(hash, byteCount: 8)
        case .float:
            hash.add(UInt64(values.float(slot).bitPattern))
            columns[slot].add(hash, byteCount: 4)
        case .double, .date:
            hash.add(values.double(slot).bitPattern)
            columns[slot].add(hash, byteCount: 8)
        case .uuid:
            let words = values.uuid(slot)
            hash.add(words.0)
            hash.add(words.1)
            columns[slot].add(hash, byteCount: 16)
        case .decimal:
            let decimal = values.decimal(slot)
            hash.add(UInt64(truncatingIfNeeded: decimal.mantissa))
            hash.add(UInt64(truncatingIfNeeded: decimal.mantissa >> 64))
            hash.add(UInt64(bitPattern: Int64(decimal.exponent)) &* 4 &+ UInt64(decimal.flags))
            columns[slot].add(hash, byteCount: StoredDecimal.byteCount)
        case .string, .url, .data, .codable:
            let bytes = values.variable(slot)
            hash.add(bytes)
            columns[slot].add(hash, byteCount: bytes.count)
        }
    }

    /// Adds a large value, read piece by piece.
    mutating func addLarge(
        _ slot: Int, _ number: UInt64, _ next: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: LargeValue.pieceByteCount, alignment: 16)
        defer { buffer.deallocate() }
        var hash = ValueHash(number)
        var byteCount = 0
        while true {
            let count = try next(buffer)
            guard count > 0 else { break }
            hash.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            byteCount += count
        }
        columns[slot].add(hash, byteCount: byteCount)
    }
}
#endif
