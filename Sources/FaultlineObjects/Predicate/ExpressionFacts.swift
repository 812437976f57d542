internal import FaultlineDisk
internal import Synchronization

/// Facts about types of expressions, each learnt once: that takes casts to protocols, or the name of the type.
///
/// Types live as long as the process, so no fact becomes wrong.
struct ExpressionFacts<Fact: Sendable>: ~Copyable, Sendable {
    private let known = Guarded<[ObjectIdentifier: Fact]>([:])

    /// So many are remembered: a program has as many as it has forms of predicates.
    private static var countMax: Int { 1_024 }

    /// The fact about a type, learnt by `learn` if it is not known yet.
    @inline(__always)
    func fact(of type: any Any.Type, learn: () -> Fact) -> Fact {
        known.withLock { known in
            if let fact = known[ObjectIdentifier(type)] { return fact }
            let fact = learn()
            if known.count >= Self.countMax { known.removeAll() }
            known[ObjectIdentifier(type)] = fact
            return fact
        }
    }
}
