import CoreMetrics
import Synchronization

/// The values of one metric.
final class Series: CounterHandler, RecorderHandler, TimerHandler {
    struct Name: Hashable, Comparable {
        let text: String

        init(label: String, dimensions: [(String, String)]) {
            let name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            let pairs = dimensions.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
            text = pairs.isEmpty ? name : "\(name){\(pairs)}"
        }

        private static func escaped(_ value: String) -> String {
            value.reduce(into: "") { text, character in
                switch character {
                case "\\", "\"": text += "\\\(character)"
                case "\n": text += "\\n"
                default: text.append(character)
                }
            }
        }

        func with(suffix: String) -> String {
            guard let brace = text.firstIndex(of: "{") else { return text + suffix }
            return text[..<brace] + suffix + text[brace...]
        }

        static func < (left: Name, right: Name) -> Bool { left.text < right.text }
    }

    private enum Value {
        case none
        case counted(Int64)
        case recorded(Double)
        /// Of a timer, in seconds.
        case timed(count: Int, sum: Double)
    }

    let name: Name
    private let value = Mutex(Value.none)

    init(_ name: Name) { self.name = name }

    var text: String {
        switch value.withLock({ $0 }) {
        case .none: ""
        case .counted(let count): "\(name.text) \(count)\n"
        case .recorded(let value): "\(name.text) \(value)\n"
        case .timed(let count, let sum):
            "\(name.with(suffix: "_seconds_count")) \(count)\n\(name.with(suffix: "_seconds_sum")) \(sum)\n"
        }
    }

    func increment(by amount: Int64) {
        value.withLock { value in
            if case .counted(let count) = value { value = .counted(count &+ amount) } else { value = .counted(amount) }
        }
    }

    func reset() { value.withLock { $0 = .counted(0) } }
    func record(_ number: Int64) { record(Double(number)) }
    func record(_ number: Double) { value.withLock { $0 = .recorded(number) } }

    func recordNanoseconds(_ duration: Int64) {
        let seconds = Double(duration) / 1e9
        value.withLock { value in
            if case .timed(let count, let sum) = value {
                value = .timed(count: count + 1, sum: sum + seconds)
            } else {
                value = .timed(count: 1, sum: seconds)
            }
        }
    }
}
