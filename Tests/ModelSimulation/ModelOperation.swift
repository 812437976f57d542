import FaultlineTestSupport

/// One operation of a random life: what is done, and a seed for all that is drawn for it.
///
/// It is told what to do by the state it meets, so any operations may be left out and the rest still means something.
package struct ModelOperation: Sendable, CustomStringConvertible {
    /// Its place in the life that its seed makes.
    package let number: Int
    package let kind: ModelKind
    let seed: UInt64

    package var description: String { "\(number) \(kind)" }

    /// How many operations a life has.
    package static let countOfLife = 250

    private static let wheel = ModelKind.allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    /// The life that a seed makes.
    package static func life(seed: UInt64, count: Int = countOfLife) -> [ModelOperation] {
        var random = Seed(seed &* 0x2545_F491_4F6C_DD1D &+ 17)
        return (0..<count).map { number in
            ModelOperation(number: number, kind: random.pick(wheel), seed: random.next())
        }
    }
}
