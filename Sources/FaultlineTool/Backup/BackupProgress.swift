import FaultlineCommands

/// Shows the bytes done; the total is known when the first are.
// Safe because one thread copies, and calls it.
final class BackupProgress: @unchecked Sendable {
    private let label: String
    private var line: ProgressLine?

    init(_ label: String) { self.label = label }

    func update(_ done: UInt64, _ total: UInt64) {
        if line == nil { line = ProgressLine(label, total: Int(clamping: total), unit: "bytes") }
        line?.update(Int(clamping: done))
    }

    func finish() { line?.finish() }
}
