/// Numbers as people read them: three digits that matter, and a unit.
package enum Quantity {
    /// `1,234,567`.
    package static func count(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }

    /// `12.3 MiB`: powers of 1,024.
    package static func bytes(_ number: Int) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var value = Double(number)
        var unit = 0
        while value.magnitude >= 1000, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return (unit == 0 ? String(number) : threeDigits(value)) + " " + units[unit]
    }

    /// `86 %`: a share, 1 being all.
    package static func share(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }

    /// `85.2 us`, `1.24 ms`, `3.5 s`, `2 min 5 s`.
    package static func seconds(_ seconds: Double) -> String {
        if seconds >= 120 {
            let whole = Int(seconds.rounded())
            return "\(whole / 60) min \(whole % 60) s"
        }
        if seconds >= 1 { return threeDigits(seconds) + " s" }
        if seconds >= 0.001 { return threeDigits(seconds * 1e3) + " ms" }
        return threeDigits(seconds * 1e6) + " us"
    }

    /// `512 k/s`: how many a second, powers of 1,000.
    package static func rate(_ count: Int, in seconds: Double) -> String {
        guard seconds > 0 else { return "" }
        let units = ["/s", " k/s", " M/s", " G/s"]
        var value = Double(count) / seconds
        var unit = 0
        while value >= 1000, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return threeDigits(value) + units[unit]
    }

    /// `1.23`, `12.3`, `123`: a number with three digits that matter.
    static func threeDigits(_ value: Double) -> String {
        if value.magnitude >= 99.95 { return fixed(value, digits: 0) }
        if value.magnitude >= 9.995 { return fixed(value, digits: 1) }
        return fixed(value, digits: 2)
    }

    /// The number rounded to that many digits after the point, without an exponent.
    package static func fixed(_ value: Double, digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (value.magnitude * scale).rounded()
        guard scaled < 9e15 else { return String(value) }
        let whole = Int(scaled)
        let sign = value < 0 && whole > 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let unit = Int(scale)
        let fraction = String(whole % unit)
        return sign + String(whole / unit) + "." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
