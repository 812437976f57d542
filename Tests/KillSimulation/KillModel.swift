/// What a store should hold: of each writer how many transactions, and with that the version of each of its objects.
struct KillModel {
    static let writerCount = 4

    private let seed: UInt64
    /// How many transactions of each writer the model has.
    private(set) var numbers = [UInt64](repeating: 0, count: writerCount)
    /// By writer, kind and slot; 0 where there is no object.
    private var versions = [[[UInt64]]](
        repeating: KillChange.Kind.allCases.map { [UInt64](repeating: 0, count: $0.slotCount) }, count: writerCount)

    init(seed: UInt64) { self.seed = seed }

    func version(_ kind: KillChange.Kind, writer: Int, slot: Int) -> UInt64 {
        versions[writer][Int(kind.rawValue)][slot]
    }

    /// Objects of a kind.
    func objectCount(of kind: KillChange.Kind) -> Int {
        versions.reduce(0) { $0 + $1[Int(kind.rawValue)].count { $0 > 0 } }
    }

    /// Goes on with a writer's transactions up to a number.
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
