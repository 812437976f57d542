import FaultlineTestSupport

/// One change of a transaction.
///
/// It is computed from the seed of the store, the writer and the number of the transaction, so the killed process and
/// the checking process need not exchange changes.
struct KillChange: Hashable {
    enum Kind: UInt8, CaseIterable {
        /// An object with a unique key.
        case keyed
        /// An object in the group of its writer.
        case grouped
        /// An object that owns a blob.
        case owning

        /// The maximum number of objects of this kind for one writer.
        var slotCount: Int {
            switch self {
            case .keyed: 24
            case .grouped: 16
            case .owning: 6
            }
        }
    }

    enum Action: Hashable {
        case put
        /// Deletes the object, if there is one.
        case delete
        /// Two objects exchange their unique keys.
        ///
        /// If one is missing, both are put.
        case exchange(with: Int)
    }

    let kind: Kind
    let slot: Int
    let action: Action

    /// Returns the changes of a transaction, in order.
    static func all(seed: UInt64, writer: Int, number: UInt64) -> [KillChange] {
        var random = Seed(seed &+ UInt64(writer) << 56 &+ number &* 0x9E37_79B9)
        let count = random.oneIn(12) ? 20 + random.below(20) : 1 + random.below(4)
        return (0..<count).map { _ in
            let kind: Kind = random.oneIn(12) ? .owning : random.oneIn(3) ? .grouped : .keyed
            let slot = random.below(kind.slotCount)
            if random.oneIn(5) { return KillChange(kind: kind, slot: slot, action: .delete) }
            if kind == .keyed, random.oneIn(3) {
                let other = (slot + 1 + random.below(kind.slotCount - 1)) % kind.slotCount
                return KillChange(kind: kind, slot: slot, action: .exchange(with: other))
            }
            return KillChange(kind: kind, slot: slot, action: .put)
        }
    }

    /// Returns a digest that distinguishes transactions with the same number.
    static func digest(_ changes: [KillChange]) -> UInt64 {
        changes.reduce(UInt64(changes.count)) { sum, change in
            let action: Int =
                switch change.action {
                case .put: 0
                case .delete: 1
                case .exchange(let other): 2 + other
                }
            var mixed = Seed(sum ^ UInt64(change.kind.rawValue) << 16 ^ UInt64(change.slot) << 8 ^ UInt64(action))
            return mixed.next()
        }
    }
}
