import FaultlineLog

/// The options for running the operations.
///
/// All configurations must see the same results.
package struct ModelConfiguration: Sendable {
    package let name: String
    let options: LogOptions
    /// Whether checkpoints, merges and compactions may start at any time.
    var isThreaded: Bool { options.maintenance == .thread }

    private init(_ name: String, _ change: (inout LogOptions) -> Void) {
        self.name = name
        var options = LogOptions()
        options.maintenance = .manual
        options.isCompacting = false
        options.segmentByteCount = 64 << 20
        change(&options)
        self.options = options
    }

    /// All configurations.
    ///
    /// The others are compared with the first one.
    package static let all: [ModelConfiguration] = [
        ModelConfiguration("as large as it gets") { _ in },
        ModelConfiguration("small segments") { $0.segmentByteCount = 4_096 },
        ModelConfiguration("small frames") {
            $0.frameByteCount = 512
            $0.segmentByteCount = 1 << 20
        },
        ModelConfiguration("a checkpoint at each commit") {
            $0.checkpointByteCount = 1
            $0.maintenance = .inline
        },
        ModelConfiguration("memory for a page") {
            $0.memoryBudget = 24_000
            $0.frameByteCount = 2_000
            $0.segmentByteCount = 60_000
            $0.maintenance = .inline
        },
        ModelConfiguration("always compacting") {
            $0.segmentByteCount = 4_096
            $0.checkpointByteCount = 3_000
            $0.maintenance = .inline
            $0.isCompacting = true
        },
        ModelConfiguration("durable later") {
            $0.durability = .async
            $0.segmentByteCount = 20_000
        },
        ModelConfiguration("nothing compressed") {
            $0.isCompressingBlobs = false
            $0.segmentByteCount = 100_000
        },
        ModelConfiguration("manifests replaced all the time") {
            $0.manifestByteCount = 0
            $0.manifestGrowth = 1
            $0.segmentByteCount = 6_000
            $0.checkpointByteCount = 10_000
            $0.maintenance = .inline
        },
        ModelConfiguration("derived files never trusted") {
            $0.ignoresDerivedFiles = true
            $0.segmentByteCount = 16_000
        },
        ModelConfiguration("maintained by a thread") {
            $0.segmentByteCount = 8_000
            $0.checkpointByteCount = 6_000
            $0.maintenance = .thread
            $0.isCompacting = true
        },
        ModelConfiguration("everything small, durable later") {
            $0.durability = .async
            $0.segmentByteCount = 2_048
            $0.frameByteCount = 700
            $0.checkpointByteCount = 4_000
            $0.manifestByteCount = 900
            $0.manifestGrowth = 1
            $0.memoryBudget = 60_000
            $0.maintenance = .inline
            $0.isCompacting = true
        },
    ]
}
