internal import FaultlineDisk

/// Tells a stage when to save a batch that is not full, so that a kill loses little of the work of slow code.
struct BatchClock {
    private let clock: Clock
    private let limit: UInt64
    private var begun: UInt64

    init(_ options: MigrationOptions) {
        clock = options.clock
        limit = options.batchNanoseconds
        begun = clock.monotonicNanoseconds()
    }

    /// Notes that the first object of a batch begins.
    mutating func begin() { begun = clock.monotonicNanoseconds() }

    /// Whether the batch has taken its time.
    var isDue: Bool {
        let now = clock.monotonicNanoseconds()
        return now > begun && now - begun >= limit
    }
}
