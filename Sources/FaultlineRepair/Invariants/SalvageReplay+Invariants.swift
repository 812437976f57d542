import FaultlineDisk
import FaultlineLog

/// Checks a salvage's invariants after each piece of a segment, if the options ask for it.
struct SalvageWatch {
    private let tell: @Sendable (BrokenInvariant) -> Void
    /// The end of the last applied transaction.
    private(set) var appliedEnd = LogPlace(segment: 0, offset: 0)
    /// Ranges that were reported as lost, by file.
    private var lost: [UInt64: [Range<UInt64>]] = [:]
    /// The first two ranges that overlap.
    private(set) var lostTwice: String?

    /// Nil if the options ask for no checks.
    init?(_ options: LogOptions) {
        guard let tell = options.invariantWatch else { return nil }
        self.tell = tell
    }

    /// Records the last part of an applied transaction.
    mutating func noteApplied(_ last: Stretch) {
        appliedEnd = max(appliedEnd, LogPlace(segment: last.managed.number, offset: last.range.upperBound))
    }

    /// Records a range that is reported as lost.
    mutating func noteLost(_ range: Range<UInt64>, of managed: ManagedFile) {
        if lostTwice == nil, let other = lost[managed.number]?.first(where: { $0.overlaps(range) }) {
            lostTwice = "\(range) of \(managed.path), after \(other)"
        }
        lost[managed.number, default: []].append(range)
    }

    func check(_ replay: borrowing SalvageReplay) {
        do throws(BrokenInvariant) { try replay.checkInvariants() } catch { tell(error) }
    }
}

extension SalvageReplay {
    /// Checks the invariants that the type's comment lists, where no transaction is being applied.
    ///
    /// - Complexity: O(pending stretches).
    func checkInvariants() throws(BrokenInvariant) {
        var end = watch?.appliedEnd ?? LogPlace(segment: 0, offset: 0)
        for stretch in pending {
            let segment = stretch.managed.number
            guard LogPlace(segment: segment, offset: stretch.range.lowerBound) >= end else {
                throw BrokenInvariant(
                    "SalvageReplay",
                    "`pending` lies behind the last applied transaction, and in the order of the log",
                    "the bytes \(stretch.range) of segment \(segment) come before byte \(end.offset) of \(end.segment)")
            }
            end = LogPlace(segment: segment, offset: stretch.range.upperBound)
        }
        if let lostTwice = watch?.lostTwice {
            throw BrokenInvariant("SalvageReplay", "bytes are reported as lost once", lostTwice)
        }
    }
}
