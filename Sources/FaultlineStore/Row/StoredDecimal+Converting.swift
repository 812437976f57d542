// Exact conversions: a number without an equal in the other type is nil.

extension StoredDecimal {
    /// The decimal that equals a binary fraction; nil if it needs too many digits, or is not finite.
    package init?(exactly value: Double) {
        guard value.isFinite else { return nil }
        guard value != 0 else {
            self.init(mantissa: 0, exponent: 0)
            return
        }
        // The number is significand × 2^exponent, and 2^-n is 5^n × 10^-n.
        let zeros = value.significandBitPattern.trailingZeroBitCount
        let isNormal = value.isNormal
        let bits = value.significandBitPattern | (isNormal ? 1 << UInt64(Double.significandBitCount) : 0)
        let shift = min(zeros, Double.significandBitCount)
        let lowest = isNormal ? Int(value.exponent) : 1 - 1_023
        let exponent = lowest - Double.significandBitCount + shift
        var mantissa = UInt128(bits >> UInt64(shift))
        for _ in 0..<abs(exponent) {
            let (product, overflow) = mantissa.multipliedReportingOverflow(by: exponent < 0 ? 5 : 2)
            if overflow { return nil }
            mantissa = product
        }
        self.init(mantissa: mantissa, exponent: Int32(min(exponent, 0)), isNegative: value < 0)
    }

    /// The binary fraction that equals the number; nil if there is none.
    package var exactDouble: Double? {
        guard let (magnitude, halvings) = scaled else { return nil }
        guard let value = Double(exactly: magnitude) else { return nil }
        let exact = halvings == 0 ? value : value * Double(sign: .plus, exponent: -halvings, significand: 1)
        return isNegative ? -exact : exact
    }

    /// The integer that equals the number, as rows compare it; nil if there is none within 64 bits.
    package var exactInteger: RowValue? {
        guard let (magnitude, halvings) = scaled, halvings == 0 else { return nil }
        if isNegative {
            guard let value = Int128(exactly: magnitude).flatMap({ Int64(exactly: -$0) }) else { return nil }
            return .int(value)
        }
        if let small = Int64(exactly: magnitude) { return .int(small) }
        return UInt64(exactly: magnitude).map { .uint($0) }
    }

    /// The magnitude as n × 2^-halvings, with the smallest possible `halvings`; nil if it has no such form, or n is too
    /// large.
    private var scaled: (magnitude: UInt128, halvings: Int)? {
        if isNaN { return nil }
        if mantissa == 0 { return (0, 0) }
        var magnitude = mantissa
        var exponent = Int(exponent)
        while exponent < 0, magnitude % 10 == 0 {
            magnitude /= 10
            exponent += 1
        }
        while exponent > 0 {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            magnitude = product
            exponent -= 1
        }
        let halvings = -exponent
        for _ in 0..<halvings {
            guard magnitude % 5 == 0 else { return nil }
            magnitude /= 5
        }
        return (magnitude, halvings)
    }
}
