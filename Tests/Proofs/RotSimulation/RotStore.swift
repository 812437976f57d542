import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// A small store to be damaged, with its expected contents.
package struct RotStore: Sendable {
    static let path = "/d/store"

    /// The bytes of a transaction with one frame.
    typealias Frame = (path: String, bytes: Range<Int>)

    package let name: String
    let disk: SimulatedDisk
    /// The expected contents after each transaction.
    let states: [CrashModel]
    let options: LogOptions
    let isClosed: Bool
    /// The frames of the transactions that damage may remove undetected.
    ///
    /// A closed store has none.
    let frames: [UInt64: Frame]
    /// The last edit in the manifest.
    let lastEdit: Frame
    /// The contents of each file before each transaction.
    let history: [String: [[UInt8]]]
    /// The files with their sizes in bytes.
    ///
    /// Bits are numbered in this order.
    package let files: [(path: String, byteCount: Int)]

    /// The number of the newest transaction.
    var newest: UInt64 { UInt64(states.count - 1) }

    /// The number of bits in all files.
    package var bitCount: Int { files.reduce(0) { $0 + $1.byteCount * 8 } }

    /// Returns the flip of the bit with the given number, which must be below `bitCount`.
    package func flip(_ number: Int) -> RotDamage {
        var rest = number
        for file in files {
            if rest < file.byteCount * 8 { return .flippedBit(rest, path: file.path) }
            rest -= file.byteCount * 8
        }
        preconditionFailure("The store has \(bitCount) bits.")
    }

    /// Returns the damages of all sectors: zeroed, older, from another file, and swapped with another one of the same
    /// file.
    package func sectorDamages() -> [RotDamage] {
        var damages: [RotDamage] = []
        for (path, byteCount) in files {
            let count = (byteCount + RotDamage.sectorByteCount - 1) / RotDamage.sectorByteCount
            for sector in 0..<count {
                damages.append(.zeroedSector(sector, path: path))
                for other in sector + 1..<max(count, sector + 1) {
                    damages.append(.swappedSectors(sector, other, path: path))
                }
                let older = Set((history[path] ?? []).map { Array(RotDamage.sector(sector, of: $0)) })
                for bytes in older.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                    damages.append(.olderSector(sector, path: path, bytes))
                }
                for (other, size) in files where other != path && size > sector * RotDamage.sectorByteCount {
                    damages.append(.strangeSector(sector, path: path, from: other))
                }
            }
        }
        return damages
    }

    /// Creates all stores for the trials.
    package static func all() throws -> [RotStore] {
        [
            try RotStore("plain", isClosed: true) { try $0.writeRows(transactions: 14) },
            try RotStore("lz4", isClosed: true) { builder in
                try builder.writeRows(transactions: 2)
                try builder.writeBlobs([6_000, 20_000].map { [UInt8](repeating: UInt8($0 >> 8), count: $0) })
            },
            try RotStore("blobs", isClosed: true) { builder in
                try builder.writeRows(transactions: 2)
                var random = Seed(9)
                try builder.writeBlobs([random.bytes(66_000), random.bytes(900)])
            },
            try RotStore("unclean", isClosed: false) { builder in
                try builder.writeRows(transactions: 8)
                try builder.log.checkpoint()
                try builder.writeRows(transactions: 6)
            },
        ]
    }

    private init(_ name: String, isClosed: Bool, _ body: (RotStoreBuilder) throws -> Void) throws {
        self.name = name
        self.isClosed = isClosed
        var options = LogOptions()
        options.maintenance = .inline
        options.segmentByteCount = 3_000
        options.frameByteCount = 4_096
        options.preparedByteCount = 400
        options.memoryBudget = 1 << 20
        options.seed = 7
        self.options = options
        let disk = SimulatedDisk(directories: ["/d"])
        let log = try Log.open(Self.path, on: disk, clock: Clock { 1_000 }, options: options, deriver: CrashDeriver())
        let builder = RotStoreBuilder(log, on: disk)
        try body(builder)
        let manifest = disk.filePaths.last { $0.contains("/m-") } ?? ""
        let edited = disk.bytes(of: manifest)?.count ?? 0
        if isClosed { try log.close() } else { log.abandonForTests() }
        states = builder.states
        frames = isClosed ? [:] : builder.frames
        history = builder.history
        let settled = disk.afterProcessDeath()
        self.disk = settled
        lastEdit = (manifest, edited..<max(edited, settled.bytes(of: manifest)?.count ?? 0))
        files = settled.filePaths.map { ($0, settled.bytes(of: $0)?.count ?? 0) }
    }
}
