import FaultlineTestSupport

/// One change of a transaction: follows from the store's seed, the writer and the transaction's number, so that the
/// process that is killed and the one that looks at what it left need not tell each other.
struct KillChange: Hashable {
    enum Kind: UInt8, CaseIterable {
        /// An object with a unique key.
        case keyed
        /// An object in the group of its writer.
        case grouped
        /// An object that owns a blob.
        case owning

        /// Objects of this kind that a writer has at most.
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
        /// Does nothing where there is no object.
        case delete
        /// Two objects with unique keys trade them; where one is missing, both are put.
        case exchange(with: Int)
    }

    let kind: Kind
    let slot: Int
    let action: Action

    /// The changes of a writer's transaction, in their order.
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

    /// What a transaction is known by, beside its number: another one of the same number has another digest.
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
