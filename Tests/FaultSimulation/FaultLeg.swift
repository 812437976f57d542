import FaultlineTestSupport

/// A stretch of a store's life that faults are tried on: where it begins, and what is done.
package struct FaultLeg: Sendable {
    /// What the disk holds when a leg begins.
    package enum Origin: Sendable {
        /// An empty directory.
        case nothing
        /// A store that was closed, with several runs, one short of a merge.
        case closed
        /// A store whose process was killed behind a checkpoint.
        case killed
        /// A store as a power cut left it, with a torn tail and files that nobody lists.
        case cut
        /// A store that was being created when the process was killed.
        case aborted
        /// A closed store, and files that nobody lists: some to be removed, one to be set aside.
        case littered
        /// A closed store whose checkpoint rotted, so that opening makes everything again.
        case rotten
    }

    package let name: String
    package let origin: Origin
    package let steps: [FaultStep]

    /// All legs, small ones in all; together they do what a program can do with a log.
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
        // More than is set aside ahead of the log in one step.
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
    ]

    private init(_ name: String, _ origin: Origin, _ steps: [FaultStep]) {
        self.name = name
        self.origin = origin
        self.steps = steps
    }
}
