/// Limits a migration to a number of bytes a second.
///
/// Written bytes are due when their time at that rate is over; waiting until then after each write keeps the rate. Time
/// without writes earns no credit.
package struct Throttle {
    private let bytesPerSecond: UInt64
    /// Bytes that were counted already.
    private var byteCount: UInt64
    /// When the counted bytes are due.
    private var due: UInt64
    /// A fraction of a nanosecond, in parts of `bytesPerSecond`, so that rounding loses nothing.
    private var rest: UInt64 = 0

    /// - Parameters:
    ///   - bytesPerSecond: The rate; at least 1.
    ///   - byteCount: Bytes that were written before.
    ///   - now: The moment, in nanoseconds.
    package init(bytesPerSecond: Int, byteCount: UInt64, now: UInt64) {
        self.bytesPerSecond = UInt64(max(bytesPerSecond, 1))
        self.byteCount = byteCount
        due = now
    }

    /// The nanoseconds to wait, given the total of written bytes.
    package mutating func wait(_ byteCount: UInt64, now: UInt64) -> UInt64 {
        guard byteCount > self.byteCount else { return due > now ? due - now : 0 }
        var product = (byteCount - self.byteCount).multipliedFullWidth(by: 1_000_000_000)
        let (low, overflow) = product.low.addingReportingOverflow(rest)
        product = (product.high + (overflow ? 1 : 0), low)
        self.byteCount = byteCount
        if due < now { due = now }
        // More than any practical wait.
        guard product.high < bytesPerSecond else { return .max }
        let (nanoseconds, remainder) = bytesPerSecond.dividingFullWidth(product)
        rest = remainder
        due = due.addingReportingOverflow(nanoseconds).overflow ? .max : due + nanoseconds
        return due - now
    }
}
