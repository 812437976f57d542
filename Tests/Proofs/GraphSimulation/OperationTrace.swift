/// The last operations of a life, for error messages.
struct OperationTrace {
    private static let countMax = 2_000
    private var operations: [String] = []

    mutating func append(_ operation: String) {
        operations.append(operation)
        if operations.count > Self.countMax { operations.removeFirst(Self.countMax / 2) }
    }

    /// The last operations, `count` at most, in a line.
    func last(_ count: Int) -> String { operations.suffix(count).joined(separator: "; ") }
}
