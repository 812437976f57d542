import FaultlineLog

/// The progress of a verification, reported in steps large enough for a line on a terminal.
struct VerifierProgress {
    private static let stepByteCountMax: UInt64 = 1 << 20
    private static let stepCountMin: UInt64 = 64

    private let stepByteCount: UInt64
    private let total: UInt64
    private let tell: (_ done: UInt64, _ total: UInt64) -> Void
    private var done: UInt64 = 0
    private var told: UInt64 = 0

    init(total: UInt64, tell: @escaping (_ done: UInt64, _ total: UInt64) -> Void) {
        self.total = total
        stepByteCount = min(Self.stepByteCountMax, total / Self.stepCountMin)
        self.tell = tell
    }

    /// Adds bytes that were read; a damaged store may claim more than there are.
    mutating func add(_ byteCount: UInt64) {
        done = min(done &+ min(byteCount, total), total)
        guard done - told >= stepByteCount else { return }
        told = done
        tell(done, total)
    }

    /// Reports that all is done.
    func finish() { tell(total, total) }
}
