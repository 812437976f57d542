import CFaultline
import Glibc

/// Wall-clock and monotonic time.
///
/// Used only to timestamp transactions, report durations, and expire idle snapshots.
package struct Clock: Sendable {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    ///
    /// May run backwards.
    package let wallNanoseconds: @Sendable () -> Int64

    /// Nanoseconds since any moment, on a clock that is never set: for durations.
    package let monotonicNanoseconds: @Sendable () -> UInt64

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - wallNanoseconds: Nanoseconds since 1970.
    ///   - monotonicNanoseconds: For durations; they are 0 if not given, so that a simulation repeats.
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
