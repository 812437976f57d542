package import FaultlineCommands

/// The lines of a dump, written in pieces: a line may be too long for memory.
package final class DumpOutput {
    private static let pieceByteCount = 64 << 10

    private let terminal: Terminal
    private var text = ""

    package init(_ terminal: Terminal = .output) { self.terminal = terminal }

    /// Writes text.
    ///
    /// - Throws: If the output does not take it: an incomplete dump must not look complete.
    package func write(_ piece: some StringProtocol) throws {
        text += piece
        if text.utf8.count >= Self.pieceByteCount { try flush() }
    }

    /// Writes the buffered text.
    package func flush() throws {
        defer { text.removeAll(keepingCapacity: true) }
        guard terminal.write(text) else {
            throw CommandFailure(
                CommandFailure.refused, "The output takes no more: its disk may be full. The dump is not whole.")
        }
    }
}
