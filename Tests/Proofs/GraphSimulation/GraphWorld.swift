internal import Faultline
internal import FaultlineDisk
internal import FaultlineLog
import FaultlineRepair
internal import FaultlineStore
internal import FaultlineTestSupport

/// A store, and its expected contents.
final class GraphWorld {
    let shape = GraphShape()
    let canary: GraphCanary?
    /// Whether the store has thousands of objects.
    let isLarge: Bool
    private var disk: Disk
    private let options: LogOptions
    private(set) var container: ModelContainer
    /// The saved state.
    var committed = GraphState()
    /// The number of saves so far.
    var version = 0
    /// The identifiers of saved objects in the store.
    var identifiers: [Int: PersistentIdentifier] = [:]
    /// The number of saves that were refused, as they had to be.
    var refusalCount = 0
    /// Whether a canary currently breaks its rule.
    var isBreaking = false
    /// The number of keys and names used so far.
    private(set) var given = 0

    init(seed: UInt64, canary: GraphCanary?) throws {
        self.canary = canary
        isLarge = GraphLife.isLarge(seed)
        var options = LogOptions()
        options.maintenance = .inline
        options.seed = seed &+ 1
        options.preparedByteCount = 0
        // Every third life is on a disk that models a power cut; in the other lives only the process is killed.
        if seed % 3 == 0 {
            disk = SimulatedDisk()
        } else {
            disk = MemoryDisk()
            options.durability = .async
        }
        // So small that even a short life has checkpoints, index runs and compactions.
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

    /// The disk, if it can model a power cut.
    var simulatedDisk: SimulatedDisk? { disk as? SimulatedDisk }

    /// Ends the process without closing the store, and opens it again from its disk or from the disk left by a power
    /// cut.
    func reopenAfterDeath(on left: SimulatedDisk? = nil) throws {
        container.rowStore.log.abandonForTests()
        if let left { disk = left }
        container = try Self.open(disk, options)
    }

    func close() throws { try container.close() }

    /// Forgets an interrupted save: its objects have no identifiers.
    func forget(since before: GraphState) {
        committed = before
        identifiers = identifiers.filter { before.nodes[$0.key] != nil }
    }

    /// Checks every record, blob and index entry, and that references dangle only where allowed, in the expected
    /// number.
    func verify() throws {
        var findings: [String] = []
        try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        guard findings.isEmpty else { throw GraphViolation("verify: \(findings)") }
        try container.rowStore.log.checkInvariants()
        try container.rowStore.checkInvariants()
        var wanted: [String: Int] = [:]
        for node in committed.nodes.values {
            for (place, targets) in node.slots where shape.properties[place].isToOne {
                for target in targets where committed.nodes[target] == nil {
                    wanted[shape.properties[place].storedName, default: 0] += 1
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
