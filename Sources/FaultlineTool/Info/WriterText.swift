import Foundation

/// The writer's entry in LOCK, with its time as people read it.
package enum WriterText {
    private static let since = " since "
    private static let unit = " s after 1970"

    /// The text without spaces around it.
    ///
    /// `process 17 on db-1 since 1700000000 s after 1970`, as earlier versions wrote
    /// it, gets a date.
    package static func text(_ owner: String) -> String {
        let owner = owner.trimmingCharacters(in: .whitespaces)
        guard owner.hasSuffix(unit), let place = owner.range(of: since, options: .backwards),
            let seconds = Int(owner[place.upperBound...].dropLast(unit.count)), seconds >= 0, seconds < 1 << 36
        else { return owner.isEmpty ? "another process" : owner }
        return owner[..<place.upperBound] + Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }
}
