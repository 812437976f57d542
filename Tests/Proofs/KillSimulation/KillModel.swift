/// The expected contents of a store: the number of transactions of each writer, and the version of each object.
struct KillModel {
    static let writerCount = 8

    private let seed: UInt64
    /// The number of transactions of each writer in the model.
    private(set) var numbers = [UInt64](repeating: 0, count: writerCount)
    /// The versions by writer, kind and slot.
    ///
    /// Zero means no object.
    private var versions = [[[UInt64]]](
        repeating: KillChange.Kind.allCases.map { [UInt64](repeating: 0, count: $0.slotCount) }, count: writerCount)

    init(seed: UInt64) { self.seed = seed }

    func version(_ kind: KillChange.Kind, writer: Int, slot: Int) -> UInt64 {
        versions[writer][Int(kind.rawValue)][slot]
    }

    /// Returns the number of objects of a kind.
    func objectCount(of kind: KillChange.Kind) -> Int {
        versions.reduce(0) { $0 + $1[Int(kind.rawValue)].count { $0 > 0 } }
    }

    /// Applies the transactions of a writer up to a number.
    mutating func advance(_ writer: Int, to number: UInt64) {
        while numbers[writer] < number {
            numbers[writer] += 1
            let next = numbers[writer]
            for change in KillChange.all(seed: seed, writer: writer, number: next) {
                let kind = Int(change.kind.rawValue)
                switch change.action {
                case .put: versions[writer][kind][change.slot] = next
                case .delete: versions[writer][kind][change.slot] = 0
                case .exchange(let other):
                    versions[writer][kind][change.slot] = next
                    versions[writer][kind][other] = next
                }
            }
        }
    }
}
