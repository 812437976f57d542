import CFaultline
import Glibc

/// Wall-clock and monotonic time.
///
/// Used only to timestamp transactions, report durations, and expire idle snapshots.
package struct Clock: Sendable {
    /// The nanoseconds since 1970-01-01T00:00:00Z.
    ///
    /// This time may run backwards.
    package let wallNanoseconds: @Sendable () -> Int64

    /// The nanoseconds since an arbitrary moment, on a clock that is never set.
    ///
    /// Use it for durations.
    package let monotonicNanoseconds: @Sendable () -> UInt64

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - wallNanoseconds: Returns the nanoseconds since 1970.
    ///   - monotonicNanoseconds: Returns the time for durations. It is 0 by default, so that simulations are
    ///     repeatable.
    package init(
        wallNanoseconds: @escaping @Sendable () -> Int64,
        monotonicNanoseconds: @escaping @Sendable () -> UInt64 = { 0 }
    ) {
        self.wallNanoseconds = wallNanoseconds
        self.monotonicNanoseconds = monotonicNanoseconds
    }

    /// The system's clock.
    package static let system = Clock(
        wallNanoseconds: { fl_wall_nanoseconds() },
        monotonicNanoseconds: {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        })
}
