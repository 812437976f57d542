internal import FaultlineLog
public import FaultlineMigration

/// The state of a store: for a readiness endpoint, a dashboard, or an on-call engineer.
///
/// Encodes as `{"status": "degraded", "reasons": [{"code": "rot", "message": …, "path": …, "offset": …}]}`. Codes do
/// not change, but messages may. `docs/Operations.md` has a remedy for each code.
public struct StoreHealth: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The overall state of the store.
    public enum Status: String, Codable, Hashable, Sendable, CaseIterable {
        /// Everything works.
        case healthy
        /// Something fails now, or will soon: a person should look.
        case degraded
        /// Nothing is written until the store is opened again.
        case failed
    }

    /// The reasons for the status, worst first; not empty if the status is not `healthy`.
    public struct Reason: Codable, Hashable, Sendable {
        /// The kind of problem.
        public enum Code: String, Codable, Hashable, Sendable, CaseIterable {
            /// The store was closed. Failed.
            case closed
            /// A write failed, and nothing more is written until the store is opened again. Failed.
            case writingStopped
            /// An operation was refused because space was missing; ends when there is space again. Degraded.
            case fullDisk
            /// Bytes differ from the written ones, at the place that the reason names. Degraded.
            case rot
            /// The newest checkpoint or compaction failed; it is tried again. Degraded.
            case maintenanceFailed
            /// Segments hold more dead bytes than live ones. Degraded.
            case compactionBehind
            /// The store had not been closed cleanly when it was opened; nothing that was durable is lost. Healthy.
            case recovered
            /// Saves that had returned were missing when the store was opened: with `.async`, saves that no sync had
            /// covered; else saves whose loss `faultline repair --accept-loss` accepted. Healthy.
            case savesLost
        }

        /// The kind of problem.
        public let code: Code
        /// The problem, in a sentence.
        public let message: String
        /// The file, if there is one.
        public let path: String?
        /// The place in the file, in bytes from its start.
        public let offset: UInt64?
    }

    /// The overall state of the store.
    public let status: Status
    /// The reasons for the status, worst first.
    public let reasons: [Reason]

    /// The state before the newest migration, as long as the store can return to it; nil if it cannot.
    ///
    /// As of the newest checkpoint.
    public let gracePeriod: GracePeriod?

    /// Whether the store takes reads and writes: for a readiness endpoint.
    public var isReady: Bool { status != .failed }

    /// The status and the reasons, in one line.
    public var description: String {
        reasons.isEmpty
            ? status.rawValue : status.rawValue + ": " + reasons.map(\.message).joined(separator: " ")
    }

    /// The state of several stores: as bad as that of the worst, with the reasons of all.
    init(joining all: [StoreHealth]) {
        reasons = all.flatMap(\.reasons)
        gracePeriod = all.lazy.compactMap(\.gracePeriod).first
        status =
            all.contains { $0.status == .failed }
            ? .failed : all.contains { $0.status == .degraded } ? .degraded : .healthy
    }

    init(_ health: LogHealth, isClosed: Bool) {
        var reasons: [Reason] = []
        func add(_ code: Reason.Code, _ message: String, path: String? = nil, offset: UInt64? = nil) {
            reasons.append(Reason(code: code, message: message, path: path, offset: offset))
        }
        if health.isClosed || isClosed { add(.closed, "The store was closed.") }
        if let failure = health.failure {
            add(.writingStopped, failure.message, path: failure.path, offset: failure.offset)
        }
        if let fullDisk = health.fullDisk { add(.fullDisk, fullDisk.message, path: fullDisk.path) }
        for place in health.rotPlaces { add(.rot, place.message, path: place.path, offset: place.offset) }
        if health.rotCount > health.rotPlaces.count {
            add(.rot, "\(health.rotCount - health.rotPlaces.count) more places do not verify.")
        }
        for name in health.opening.ignoredDerivedFiles {
            add(.rot, "\(name) did not verify when the store was opened, and was made again from the segments.")
        }
        if let failure = health.maintenanceFailure, failure.code != .fullDisk {
            add(.maintenanceFailed, failure.message, path: failure.path, offset: failure.offset)
        }
        if health.isCompactionBehind {
            add(
                .compactionBehind,
                "\(health.space.liveByteCount) of \(health.space.segmentByteCount) bytes of segments are live.")
        }
        if !health.opening.wasClean, !health.opening.wasCreated {
            add(
                .recovered,
                "The store had not been closed cleanly: \(health.opening.replayedTransactionCount) transactions were read again."
            )
        }
        if let tail = health.opening.lostTail {
            add(
                .savesLost, "At least \(tail.count) saves behind transaction \(tail.found) were lost.", path: tail.path,
                offset: tail.offset)
        }
        self.reasons = reasons
        gracePeriod = health.space.keptUntilNanoseconds.map {
            GracePeriod(bytes: health.space.keptByteCount, untilNanoseconds: $0)
        }
        status =
            reasons.contains { $0.code == .closed || $0.code == .writingStopped }
            ? .failed : reasons.contains { $0.code != .recovered && $0.code != .savesLost } ? .degraded : .healthy
    }
}
