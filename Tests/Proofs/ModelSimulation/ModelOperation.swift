import FaultlineTestSupport

/// One operation of a random workload: its kind, and a seed for its random decisions.
///
/// It depends on the state only, so any operations can be left out, and the remaining ones still make sense.
package struct ModelOperation: Sendable, CustomStringConvertible {
    /// The position in the workload of the seed.
    package let number: Int
    package let kind: ModelKind
    let seed: UInt64

    package var description: String { "\(number) \(kind)" }

    /// The number of operations in a workload.
    package static let countOfLife = 250

    private static let wheel = ModelKind.allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    /// Returns the workload of a seed.
    package static func life(seed: UInt64, count: Int = countOfLife) -> [ModelOperation] {
        var random = Seed(seed &* 0x2545_F491_4F6C_DD1D &+ 17)
        return (0..<count).map { number in
            ModelOperation(number: number, kind: random.pick(wheel), seed: random.next())
        }
    }
}
