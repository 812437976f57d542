import Glibc

/// One line on a terminal that shows the progress of a step; nothing if the output is no terminal.
///
/// The line is written at most ten times a second, so `update` may be called for every batch.
package struct ProgressLine {
    private let terminal: Terminal
    private let label: String
    private let total: Int
    private let unit: String
    private let interval: Double
    private let now: () -> Double
    private let start: Double
    private var last: Double
    private var isShown = false

    /// Prepares a line; the first `update` may show it.
    ///
    /// - Parameters:
    ///   - label: The step, in a few words.
    ///   - total: The number of units in all; 0 if it is unknown.
    ///   - unit: The counted units, in the plural; `bytes` are written as people read them.
    ///   - terminal: Where to write.
    package init(_ label: String, total: Int = 0, unit: String = "", terminal: Terminal = .messages) {
        self.init(label, total: total, unit: unit, terminal: terminal, now: monotonicSeconds)
    }

    package init(_ label: String, total: Int, unit: String, terminal: Terminal, now: @escaping () -> Double) {
        self.label = label
        self.total = total
        self.unit = unit
        self.terminal = terminal
        self.now = now
        interval = 0.1
        start = now()
        last = start
    }

    /// Reports how many units are done; writes the line if a tenth of a second has passed.
    package mutating func update(_ done: Int) {
        guard terminal.isInteractive else { return }
        let time = now()
        guard time - last >= interval else { return }
        last = time
        isShown = true
        terminal.write("\r\u{1B}[K" + text(done: done, after: time - start, width: terminal.columnCount))
    }

    /// Removes the line; later output starts in the first column.
    package mutating func finish() {
        guard isShown else { return }
        isShown = false
        terminal.write("\r\u{1B}[K")
    }

    /// The line for `done` of `total`, no wider than `width`.
    package func text(done: Int, after seconds: Double, width: Int) -> String {
        var parts = [label]
        let share = total > 0 ? min(1, Double(done) / Double(total)) : 0
        if total > 0 {
            if width >= Self.widthForBar { parts.append(Self.bar(share)) }
            parts.append("\(Int(share * 100)) %")
        }
        let unitText = isBytes || unit.isEmpty ? "" : " " + unit
        parts.append(amount(done) + (total > 0 ? " of " + amount(total) : "") + unitText)
        if done > 0, seconds > 0 {
            let rate = Int((Double(done) / seconds).rounded())
            parts.append(isBytes ? Quantity.bytes(rate) + "/s" : Quantity.rate(done, in: seconds))
        }
        if share >= 0.01, share < 1, seconds >= Self.secondsForGuess {
            parts.append(Quantity.seconds((seconds / share - seconds).rounded(.up)) + " left")
        }
        return String(parts.joined(separator: "  ").prefix(max(1, width - 1)))
    }

    private static let widthForBar = 80
    private static let barWidth = 20
    /// Before that, the speed is unknown.
    private static let secondsForGuess = 2.0

    private var isBytes: Bool { unit == "bytes" }

    private func amount(_ number: Int) -> String { isBytes ? Quantity.bytes(number) : Quantity.count(number) }

    private static func bar(_ share: Double) -> String {
        let full = Int(share * Double(barWidth))
        return String(repeating: "█", count: full) + String(repeating: "░", count: barWidth - full)
    }
}

/// Seconds on a clock that is never set.
package func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
