import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// Takes bytes for what a target says, and checks that whoever reads them does so in an orderly way: reads all of it or
/// refuses it by an error of a fitting kind, and never traps.
package struct FuzzTrial: Sendable {
    private let target: FuzzTarget
    private let repairsChecksums: Bool

    /// - Parameters:
    ///   - target: What bytes are taken for.
    ///   - repairsChecksums: Whether checksums are made to fit first.
    package init(_ target: FuzzTarget, repairsChecksums: Bool) {
        self.target = target
        self.repairsChecksums = repairsChecksums
    }

    /// Bytes to begin with: what they should be.
    package func seeds() throws -> [[UInt8]] {
        switch target {
        case .lock: return [LockTrial.seed(of: target.origin)]
        case .identity, .manifest, .segment, .moved, .blob, .checkpoint, .run:
            let origin = target.origin
            return origin.names.filter { $0.hasPrefix(target.namePrefix) }.map(origin.bytes)
        case .store, .salvage:
            return FuzzStore.all.indices.flatMap { store in
                let names = FuzzStore.all[store].names
                return [FuzzArchive.pack(store, names)] + names.map { FuzzArchive.pack(store, [$0]) }
            }
        case .catalog: return try CatalogTrial.seeds()
        case .row: return RowTrial.seeds()
        case .identifier, .cursor, .token: return try ClientTrial.seeds(target)
        case .mapping, .schema, .schemaLock: return try TextTrial.seeds(target)
        }
    }

    /// Reads the bytes.
    ///
    /// - Throws: `FuzzViolation` where they are not read as they should.
    package func run(_ bytes: [UInt8]) throws {
        switch target {
        case .catalog: try CatalogTrial.run(bytes)
        case .row: try RowTrial.run(bytes)
        case .identifier, .cursor, .token: try ClientTrial.run(bytes, as: target)
        case .mapping, .schema, .schemaLock: try TextTrial.run(bytes, as: target)
        case .store:
            let (store, files) = FuzzArchive.unpack(bytes)
            try read(store, files)
        case .salvage:
            let (store, files) = FuzzArchive.unpack(bytes)
            try salvage(store.disk(replacing: files.map(repaired)))
        case .lock: try LockTrial.run(bytes, in: target.origin)
        case .identity, .manifest, .segment, .moved, .blob, .checkpoint, .run:
            let name = target.origin.name(target.namePrefix)
            var file = bytes
            // The manifest says how large these are; another size is known to be wrong without a look.
            if target == .checkpoint || target == .run {
                let size = target.origin.bytes(name).count
                file = Array(file.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - file.count))
            }
            try read(target.origin, [(name, file)])
        }
    }

    /// Whether the repair of checksums leaves a seed as it is.
    package static func changesNothing(repairing seed: [UInt8], as target: FuzzTarget) -> Bool {
        if target == .store || target == .salvage {
            return FuzzArchive.unpack(seed).files.allSatisfy { file in
                ChecksumRepair.repaired(file.bytes, name: file.name) == file.bytes
            }
        }
        return ChecksumRepair.repaired(seed, name: target.origin.name(target.namePrefix)) == seed
    }

    private func repaired(_ file: (name: String, bytes: [UInt8])) -> (name: String, bytes: [UInt8]) {
        (file.name, repairsChecksums ? ChecksumRepair.repaired(file.bytes, name: file.name) : file.bytes)
    }

    private func read(_ store: FuzzStore, _ files: [(name: String, bytes: [UInt8])]) throws {
        let disk = try store.disk(replacing: files.map(repaired))
        // What derived files say is looked at only where it is not made again.
        let reading = FuzzReading(
            repairsChecksums: repairsChecksums, ignoresDerivedFiles: target == .segment || target == .moved)
        guard try reading.problem(on: disk) == nil else { return }
        // What was whole is whole after a commit, too; where checksums were made to fit, files may contradict each
        // other.
        if let problem = try reading.problem(on: disk), !repairsChecksums {
            throw FuzzViolation(description: "a store without a finding was written to, and now: \(problem)")
        }
    }

    private func salvage(_ disk: SimulatedDisk) throws {
        let reading = FuzzReading(repairsChecksums: repairsChecksums, ignoresDerivedFiles: false)
        do throws(LogError) {
            let source = try SalvageSource.open(FuzzStore.path, on: disk)
            let salvage = Salvage(
                to: "/d/saved", on: disk, clock: Clock { 2_000 }, options: FuzzStore.options(), deriver: CrashDeriver())
            _ = try salvage.run(source, finding: { _ in }, progress: { _, _, _ in })
        } catch {
            try reading.checkRefusal(error)
            return
        }
        if let problem = try reading.problem(on: disk, path: "/d/saved"), !repairsChecksums {
            throw FuzzViolation(description: "of what was salvaged: \(problem)")
        }
    }
}
