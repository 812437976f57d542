/// Holds a migration to so many bytes a second.
///
/// What was written is due when its time at that rate is over; who waits until then after each write keeps to it. Time
/// in which nothing was written is not made up for.
package struct Throttle {
    private let bytesPerSecond: UInt64
    /// Bytes that were counted already.
    private var byteCount: UInt64
    /// When what was counted is due.
    private var due: UInt64
    /// Of a nanosecond, in parts of `bytesPerSecond`: so that nothing is lost by rounding.
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

    /// The nanoseconds to wait for, now that so many bytes were written in all.
    package mutating func wait(_ byteCount: UInt64, now: UInt64) -> UInt64 {
        guard byteCount > self.byteCount else { return due > now ? due - now : 0 }
        var product = (byteCount - self.byteCount).multipliedFullWidth(by: 1_000_000_000)
        let (low, overflow) = product.low.addingReportingOverflow(rest)
        product = (product.high + (overflow ? 1 : 0), low)
        self.byteCount = byteCount
        if due < now { due = now }
        // Longer than anybody waits.
        guard product.high < bytesPerSecond else { return .max }
        let (nanoseconds, remainder) = bytesPerSecond.dividingFullWidth(product)
        rest = remainder
        due = due.addingReportingOverflow(nanoseconds).overflow ? .max : due + nanoseconds
        return due - now
    }
}
