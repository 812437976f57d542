/// A piece of HTML. Text that is interpolated is escaped, other markup is not:
///
///     let name: Markup = "<td>\(object.name)</td>"
package struct Markup: Sendable, ExpressibleByStringInterpolation {
    package private(set) var text: String

    package init(stringLiteral value: String) { text = value }

    package init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Pieces, one after the other.
    init(_ pieces: some Sequence<Markup>) { text = pieces.map(\.text).joined() }

    static func + (left: Markup, right: Markup) -> Markup {
        var sum = left
        sum.text += right.text
        return sum
    }

    static func += (left: inout Markup, right: Markup) { left.text += right.text }

    /// Collects the pieces of a literal.
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        package mutating func appendInterpolation(_ markup: Markup) { text += markup.text }
        package mutating func appendInterpolation(_ markup: Markup?) { text += markup?.text ?? "" }
        package mutating func appendInterpolation(_ number: Int) { text += "\(number)" }
        package mutating func appendInterpolation(_ number: UInt64) { text += "\(number)" }
        package mutating func appendInterpolation(_ string: some StringProtocol) {
            for scalar in string.unicodeScalars {
                switch scalar {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                // HTML has no other control characters.
                case "\u{9}", "\u{A}", "\u{D}": text.unicodeScalars.append(scalar)
                case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": text += "\u{FFFD}"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
