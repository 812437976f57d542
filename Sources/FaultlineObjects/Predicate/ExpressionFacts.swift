internal import FaultlineDisk
internal import Synchronization

/// A cache of facts about types of expressions, which take casts to protocols, or the name of the type, to compute.
///
/// Types live as long as the process, so no fact becomes wrong.
struct ExpressionFacts<Fact: Sendable>: ~Copyable, Sendable {
    private let known = Guarded<[ObjectIdentifier: Fact]>([:])

    /// The greatest number of cached facts: a program has as many as it has forms of predicates.
    private static var countMax: Int { 1_024 }

    /// The fact about a type, computed by `learn` on first use.
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
