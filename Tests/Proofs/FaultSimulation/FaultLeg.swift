import FaultlineLog
import FaultlineTestSupport

/// A part of a workload into which faults are injected: its starting store, and its steps.
package struct FaultLeg: Sendable {
    /// The content of the disk at the beginning of a leg.
    package enum Origin: Sendable {
        /// An empty directory.
        case nothing
        /// A store that was closed, with several runs, one short of a merge.
        case closed
        /// A store whose process was killed after a checkpoint.
        case killed
        /// A store after a power cut, with a torn tail and unlisted files.
        case cut
        /// A store whose process was killed during its creation.
        case aborted
        /// A closed store with unlisted files: some to be removed, one to be quarantined.
        case littered
        /// A closed store with a damaged checkpoint, so that opening rebuilds everything.
        case rotten
        /// A closed store with a window of past states, some of which only its folder has.
        case past
        /// The same with files in the folder that no listing names, and a listing whose writing was interrupted.
        case litteredPast

        /// Whether the store has a window of past states.
        var hasWindow: Bool { self == .past || self == .litteredPast }
    }

    package let name: String
    package let origin: Origin
    package let steps: [FaultStep]
    /// The window of past states that is asked for; nil for that of the store.
    let window: RetentionWindow?

    private static let always = RetentionWindow(nanoseconds: .max, byteCount: .max)

    /// All legs, with small sizes in all; together they use every call of a log.
    package static let all: [FaultLeg] = [
        FaultLeg("create", .nothing, [.open, .commit(changeCount: 3), .close]),
        FaultLeg("creation again", .aborted, [.open, .commit(changeCount: 3), .close]),
        FaultLeg(
            "commits", .closed,
            [
                .open, .commit(changeCount: 2), .commit(changeCount: 30), .giveUp(changeCount: 25), .read,
                .commit(changeCount: 4), .close,
            ]),
        FaultLeg(
            "blobs", .closed, [.open, .commitBlobs([700, 3_000]), .commitBlobs([900, 40, 5_000]), .read, .close]),
        FaultLeg(
            "uploads", .closed,
            [.open, .upload(byteCount: 70_000), .upload(byteCount: 9_000), .read, .checkpoint, .close]),
        FaultLeg(
            "streams", .closed, [.open, .streamBlob(byteCount: 70_000), .read, .streamBlob(byteCount: 200), .close]),
        FaultLeg(
            "checkpoints", .closed,
            [
                .open, .commit(changeCount: 6), .checkpoint, .commit(changeCount: 6), .checkpoint, .read,
                .commit(changeCount: 3), .checkpoint, .close,
            ]),
        FaultLeg(
            "segments", .closed,
            [.open, .commit(changeCount: 12), .commit(changeCount: 12), .commit(changeCount: 12), .read, .close]),
        // More than one step of the log's reserved space.
        FaultLeg("large row", .closed, [.open, .commitRow(byteCount: 5 << 20), .read, .close]),
        FaultLeg("two committers", .closed, [.open, .commitByTwo(count: 3), .read, .close]),
        FaultLeg("tables", .closed, [.open, .dropTable, .commit(changeCount: 5), .dropTable, .checkpoint, .close]),
        FaultLeg(
            "compaction", .closed,
            [.open, .commit(changeCount: 30), .commit(changeCount: 30), .checkpoint, .compact, .read, .close]),
        FaultLeg(
            "compaction of blobs", .closed,
            [
                .open, .commitBlobs([1_500, 900, 1_200]), .commitBlobs([700, 2_000, 800]), .commitBlobs([100]),
                .commitBlobs([100]), .commitBlobs([100]), .compact, .read, .close,
            ]),
        FaultLeg("salvage", .closed, [.open, .commit(changeCount: 3), .close, .salvage, .open, .read, .close]),
        FaultLeg("salvage of a killed store", .killed, [.salvage, .open, .read, .close]),
        FaultLeg("clean reopening", .closed, [.open, .read, .close, .open, .commit(changeCount: 2), .close]),
        FaultLeg("reopening", .killed, [.open, .read, .commit(changeCount: 4), .kill, .open, .read, .close]),
        FaultLeg("recovery", .cut, [.open, .read, .commit(changeCount: 4), .close]),
        FaultLeg("leftovers", .littered, [.open, .read, .commit(changeCount: 2), .close]),
        FaultLeg("rebuilding", .rotten, [.open, .read, .commit(changeCount: 2), .close]),
        FaultLeg("reader", .closed, [.openForReading, .read, .verify, .close]),
        FaultLeg("reader of a killed store", .killed, [.openForReading, .read, .close]),
        FaultLeg("verification", .closed, [.open, .verify, .close]),
        FaultLeg("inspection", .closed, [.open, .inspect, .close]),
        FaultLeg(
            "window", .closed, [.open, .commit(changeCount: 30), .checkpoint, .compact, .read, .close], window: always),
        FaultLeg(
            "states of the past", .past,
            [.open, .commit(changeCount: 30), .commit(changeCount: 30), .checkpoint, .compact, .read, .close]),
        FaultLeg(
            "leftovers of the past", .litteredPast, [.open, .read, .commit(changeCount: 2), .close], window: always),
        FaultLeg(
            "small window", .past, [.open, .commit(changeCount: 30), .checkpoint, .compact, .read, .close],
            window: RetentionWindow(nanoseconds: .max, byteCount: 6_000)),
        FaultLeg(
            "end of the window", .past, [.open, .commit(changeCount: 2), .close], window: RetentionWindow.none),
    ]

    private init(_ name: String, _ origin: Origin, _ steps: [FaultStep], window: RetentionWindow? = nil) {
        self.name = name
        self.origin = origin
        self.steps = steps
        self.window = window
    }

    /// Whether no state of the past may be lost unless an error is reported.
    var keepsPast: Bool { origin.hasWindow && (window == nil || window == Self.always) }
    /// Whether states of the past may be there.
    var mayHavePast: Bool { origin.hasWindow || window != nil }
}
