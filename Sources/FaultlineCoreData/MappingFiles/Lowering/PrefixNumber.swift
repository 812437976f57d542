/// The number that a text begins with, as the methods of `NSString` read it: blanks, a sign, digits, a fraction, and an
/// exponent.
struct PrefixNumber {
    /// The sign and the digits before a fraction; 0 without digits.
    let whole: String
    /// The number with its fraction and exponent; 0 without digits.
    let number: String
    /// Whether the text is a number, and nothing but blanks stand around it.
    let isWholeText: Bool

    init(_ text: String) {
        let signs = Array(text.unicodeScalars)
        var position = 0
        func digits() -> String {
            let start = position
            while position < signs.count, ("0"..."9").contains(signs[position]) { position += 1 }
            return signs[start..<position].reduce(into: "") { $0.unicodeScalars.append($1) }
        }
        func take(_ wanted: Set<Unicode.Scalar>) -> String? {
            guard position < signs.count, wanted.contains(signs[position]) else { return nil }
            defer { position += 1 }
            return String(signs[position])
        }
        func skipBlanks() {
            while position < signs.count, signs[position].properties.isWhitespace { position += 1 }
        }
        skipBlanks()
        let sign = take(["-", "+"]) == "-" ? "-" : ""
        let first = digits()
        var fraction = ""
        var end = position
        if take(["."]) != nil {
            fraction = digits()
            if !fraction.isEmpty { end = position }
        }
        let isNumber = !first.isEmpty || !fraction.isEmpty
        position = end
        var exponent = ""
        if isNumber, take(["e", "E"]) != nil {
            let sign = take(["-", "+"]) ?? ""
            let power = digits()
            if power.isEmpty { position = end } else { exponent = "e\(sign)\(power)" }
        }
        whole = first.isEmpty ? "0" : sign + first
        let unsigned = (first.isEmpty ? "0" : first) + (fraction.isEmpty ? "" : ".\(fraction)") + exponent
        number = isNumber ? sign + unsigned : "0"
        skipBlanks()
        isWholeText = isNumber && position == signs.count
    }

    /// Whether a text stands for true: after blanks, a sign and zeros, it has Y, y, T, t, or a digit from 1 to 9.
    static func isTrue(_ text: String) -> Bool {
        var rest = text.unicodeScalars.drop { $0.properties.isWhitespace }
        if let sign = rest.first, sign == "-" || sign == "+" { rest = rest.dropFirst() }
        guard let next = rest.drop(while: { $0 == "0" }).first else { return false }
        return "YyTt123456789".unicodeScalars.contains(next)
    }
}
