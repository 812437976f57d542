internal import Faultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore
internal import FaultlineTestSupport

/// A store, and what it should hold.
final class GraphWorld {
    let shape = GraphShape()
    let canary: GraphCanary?
    private let disk = MemoryDisk()
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
        var options = LogOptions()
        options.maintenance = .inline
        options.durability = .async
        options.seed = seed &+ 1
        options.preparedByteCount = 0
        // So small that checkpoints and index runs are made, and files compacted, in a short life.
        options.checkpointByteCount = seed % 2 == 0 ? 24 << 10 : 256 << 10
        self.options = options
        container = try Self.open(disk, options)
    }

    private static func open(_ disk: MemoryDisk, _ options: LogOptions) throws -> ModelContainer {
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

    func close() throws { try container.close() }

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
