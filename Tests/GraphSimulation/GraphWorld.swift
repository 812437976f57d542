internal import Faultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore
internal import FaultlineTestSupport

/// A store, and what it should hold.
final class GraphWorld {
    let shape = GraphShape()
    let canary: GraphCanary?
    /// Whether thousands of objects are there.
    let isLarge: Bool
    private var disk: Disk
    private let options: LogOptions
    private(set) var container: ModelContainer
    /// What was saved.
    var committed = GraphState()
    /// How many saves there were.
    var version = 0
    /// What saved objects are called by the store.
    var identifiers: [Int: PersistentIdentifier] = [:]
    /// Saves that were refused, as they had to be.
    var refusalCount = 0
    /// Whether a canary breaks its rule now.
    var isBreaking = false
    /// Keys and names given so far.
    private(set) var given = 0

    init(seed: UInt64, canary: GraphCanary?) throws {
        self.canary = canary
        isLarge = GraphLife.isLarge(seed)
        var options = LogOptions()
        options.maintenance = .inline
        options.seed = seed &+ 1
        options.preparedByteCount = 0
        // Every third life is on a disk that knows what a power cut leaves; the others' processes are killed only.
        if seed % 3 == 0 {
            disk = SimulatedDisk()
        } else {
            disk = MemoryDisk()
            options.durability = .async
        }
        // So small that checkpoints and index runs are made, and files compacted, in a short life.
        options.checkpointByteCount = seed % 2 == 0 ? 24 << 10 : 256 << 10
        self.options = options
        container = try Self.open(disk, options)
    }

    private static func open(_ disk: Disk, _ options: LogOptions) throws -> ModelContainer {
        try ModelContainer(for: GraphKind.all, directory: "store", on: disk, options: options)
    }

    func next() -> Int {
        given += 1
        return given
    }

    func reopen() throws {
        try container.close()
        container = try Self.open(disk, options)
    }

    /// What a power cut leaves can be asked for here.
    var simulatedDisk: SimulatedDisk? { disk as? SimulatedDisk }

    /// The process ends without a word, and another opens the store, as it is or on the disk that a power cut left.
    func reopenAfterDeath(on left: SimulatedDisk? = nil) throws {
        container.rowStore.log.abandonForTests()
        if let left { disk = left }
        container = try Self.open(disk, options)
    }

    func close() throws { try container.close() }

    /// A save that was cut is not there: what it made has no identifiers.
    func forget(since before: GraphState) {
        committed = before
        identifiers = identifiers.filter { before.nodes[$0.key] != nil }
    }

    /// Checks every record, blob and index entry, and that references dangle where they may, and as many.
    func verify() throws {
        var findings: [String] = []
        try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        guard findings.isEmpty else { throw GraphViolation("verify: \(findings)") }
        var wanted: [String: Int] = [:]
        for node in committed.nodes.values {
            for (place, targets) in node.slots where shape.properties[place].isToOne {
                for target in targets where committed.nodes[target] == nil {
                    wanted[shape.properties[place].name, default: 0] += 1
                }
            }
        }
        var found: [String: Int] = [:]
        for property in try ReferenceRepair(container.rowStore).look() where !property.isLink {
            found["\(property.entityName).\(property.propertyName)"] = property.count
        }
        guard found == wanted else { throw GraphViolation("dangling are \(found) instead of \(wanted)") }
    }
}
