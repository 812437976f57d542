/// Hashes that no key in the committed state has, as far as the transaction under way asked for many keys at once: a look-up of such a key is
/// answered here.
///
/// True until the transaction ends or moves entries of its own into runs; who does that calls `removeAll`. Only the last few hundred are
/// known: a hash has two places, and the newer of two others there makes room last.
struct AbsentKeys: ~Copyable {
    private struct Slot {
        var hash: UInt64
        var index: UInt64
    }

    private static let capacity = 512
    /// No index has such a number.
    private static let noIndex = UInt64.max
    static let byteCount = capacity * MemoryLayout<Slot>.stride

    private let slots: UnsafeMutablePointer<Slot>
    private var isEmpty = true

    init() {
        slots = .allocate(capacity: Self.capacity)
        slots.initialize(repeating: Slot(hash: 0, index: Self.noIndex), count: Self.capacity)
    }

    deinit {
        slots.deallocate()
    }

    @inline(__always)
    mutating func insert(_ hash: UInt64, of index: IndexID) {
        let pair = slots + Self.place(hash)
        pair[1] = pair[0]
        pair[0] = Slot(hash: hash, index: UInt64(index.rawValue))
        isEmpty = false
    }

    @inline(__always)
    func contains(_ hash: UInt64, of index: IndexID) -> Bool {
        let pair = slots + Self.place(hash), index = UInt64(index.rawValue)
        return (pair[0].hash == hash && pair[0].index == index) || (pair[1].hash == hash && pair[1].index == index)
    }

    mutating func removeAll() {
        if isEmpty { return }
        slots.update(repeating: Slot(hash: 0, index: Self.noIndex), count: Self.capacity)
        isEmpty = true
    }

    /// The first of the hash's two places.
    @inline(__always)
    private static func place(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (capacity - 2) }
}
