package import FaultlineCommands

/// The lines of a dump on their way out, in pieces: a line may be longer than memory should hold.
package final class DumpOutput {
    private static let pieceByteCount = 64 << 10

    private let terminal: Terminal
    private var text = ""

    package init(_ terminal: Terminal = .output) { self.terminal = terminal }

    /// Writes text.
    ///
    /// - Throws: If the output does not take it: a dump that is not whole must not look like one.
    package func write(_ piece: some StringProtocol) throws {
        text += piece
        if text.utf8.count >= Self.pieceByteCount { try flush() }
    }

    /// Writes what is held back.
    package func flush() throws {
        defer { text.removeAll(keepingCapacity: true) }
        guard terminal.write(text) else {
            throw CommandFailure(
                CommandFailure.refused, "The output takes no more: its disk may be full. The dump is not whole.")
        }
    }
}
