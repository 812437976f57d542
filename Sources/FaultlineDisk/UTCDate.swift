/// Dates for messages, in UTC.
package enum UTCDate {
    private static let secondsPerDay: Int64 = 86_400
    /// The last second of the year 9999.
    private static let latest: Int64 = 253_402_300_799

    /// Formats a moment as `2023-11-14T22:13:20Z`.
    ///
    /// - Parameter seconds: The seconds since 1970.
    /// - Returns: The date, or the seconds as text for a moment before 1970 or after the year 9999.
    package static func text(secondsSince1970 seconds: Int64) -> String {
        guard seconds >= 0, seconds <= latest else { return "\(seconds) s after 1970" }
        let (year, month, day) = date(ofDay: seconds / secondsPerDay)
        let second = seconds % secondsPerDay
        let time = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(time)Z"
    }

    /// Returns year, month and day of the Gregorian calendar.
    ///
    /// The algorithm counts in eras of 400 years that begin on a 1 March (Howard Hinnant, "chrono-Compatible Low-Level
    /// Date Algorithms", 2014).
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
