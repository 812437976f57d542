import Glibc

/// An output of the process: writes to it, and knows whether it is a terminal.
package struct Terminal: Sendable {
    /// Where results go.
    package static let output = Terminal(descriptor: 1)
    /// Where progress and error messages go.
    package static let messages = Terminal(descriptor: 2)

    package let descriptor: Int32
    /// Whether it is a terminal that can be written over; `TERM=dumb` is none.
    package let isInteractive: Bool

    package init(descriptor: Int32) {
        self.descriptor = descriptor
        let kind = getenv("TERM").map { String(cString: $0) } ?? ""
        isInteractive = isatty(descriptor) == 1 && !kind.isEmpty && kind != "dumb"
    }

    /// Whether text may be bold or dim: on terminals, unless `NO_COLOR` is set.
    package var isStyled: Bool { isInteractive && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true) }

    /// Columns of the terminal, 80 if it does not report them.
    package var columnCount: Int {
        var size = winsize()
        let request = UInt(TIOCGWINSZ)
        return ioctl(descriptor, request, &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// Writes all of the text.
    ///
    /// - Returns: Whether all of it was taken; people's messages may be lost, a dump must not be.
    @discardableResult
    package func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
