/// One JSON object on one line, its keys in the order in which they were added.
package struct JSONLine: Sendable {
    private var text = "{"

    package init() {}

    /// The whole line, without a line break.
    package var line: String { text + "}" }

    package mutating func add(_ key: String, _ value: String) {
        begin(key)
        Self.quote(value, into: &text)
    }

    package mutating func add(_ key: String, _ value: Int) {
        begin(key)
        text += String(value)
    }

    package mutating func add(_ key: String, _ value: Bool) {
        begin(key)
        text += value ? "true" : "false"
    }

    /// Adds a number rounded to `digits` after the point; `null` for a value that JSON cannot express.
    package mutating func add(_ key: String, _ value: Double, digits: Int = 3) {
        begin(key)
        text += value.isFinite ? Quantity.fixed(value, digits: digits) : "null"
    }

    /// Adds an object that was built the same way.
    package mutating func add(_ key: String, _ value: JSONLine) {
        begin(key)
        text += value.line
    }

    /// Adds a list of objects that were built the same way.
    package mutating func add(_ key: String, _ values: [JSONLine]) {
        begin(key)
        text += "[" + values.map(\.line).joined(separator: ",") + "]"
    }

    /// Adds a list of texts.
    package mutating func add(_ key: String, _ values: [String]) {
        addRaw(key, "[" + values.map(Self.quoted).joined(separator: ",") + "]")
    }

    /// Adds a list of whole numbers.
    package mutating func add(_ key: String, _ values: [some BinaryInteger]) {
        addRaw(key, "[" + values.map { String($0) }.joined(separator: ",") + "]")
    }

    /// Adds text that is JSON already.
    private mutating func addRaw(_ key: String, _ json: String) {
        begin(key)
        text += json
    }

    /// Adds a key that has no value.
    package mutating func addNull(_ key: String) { addRaw(key, "null") }

    /// A text as a JSON string.
    package static func quoted(_ value: String) -> String {
        var text = ""
        quote(value, into: &text)
        return text
    }

    private mutating func begin(_ key: String) {
        if text.utf8.count > 1 { text += "," }
        Self.quote(key, into: &text)
        text += ":"
    }

    private static func quote(_ value: String, into text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
