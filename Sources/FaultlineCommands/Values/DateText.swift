import Foundation

/// Dates as JSON: ISO 8601 in UTC, with as many digits after the second as the exact value needs.
package enum DateText {
    /// The years 1 to 9999, which ISO 8601 can name.
    private static let range = -63_114_076_800.0...252_423_993_599.0
    private static let digitCountMax = 9

    /// A date as a JSON string; dates outside ISO 8601 become a number of seconds, and values that are no number become
    /// null.
    package static func json(secondsSince2001 seconds: Double) -> String {
        guard seconds.isFinite else { return "null" }
        guard range.contains(seconds) else { return seconds.description }
        return "\"" + text(secondsSince2001: seconds) + "\""
    }

    /// A moment in whole seconds, as people read it.
    package static func text(secondsSince1970 seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(min(max(seconds, 0), 1 << 36))).formatted(.iso8601)
    }

    /// A date as people read it; dates outside ISO 8601 are a number of seconds.
    package static func text(of seconds: Double) -> String {
        range.contains(seconds) ? text(secondsSince2001: seconds) : seconds.description
    }

    private static func text(secondsSince2001 seconds: Double) -> String {
        let whole = seconds.rounded(.down)
        let text = Date(timeIntervalSinceReferenceDate: whole).formatted(.iso8601)
        var scale = 1.0
        for digitCount in 1...digitCountMax where whole != seconds {
            scale *= 10
            let digits = ((seconds - whole) * scale).rounded()
            guard digits < scale else { break }
            guard whole + digits / scale == seconds || digitCount == digitCountMax else { continue }
            let fraction = String(Int(digits))
            let zeros = String(repeating: "0", count: digitCount - fraction.count)
            return text.dropLast() + "." + zeros + fraction + "Z"
        }
        return text
    }
}
