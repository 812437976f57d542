import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

/// Reads bytes as a target, and checks that they are handled properly: read completely or refused by an error of a
/// fitting kind, without a trap.
package struct FuzzTrial: Sendable {
    private let target: FuzzTarget
    private let repairsChecksums: Bool

    /// - Parameters:
    ///
    ///   - target: The interpretation of the bytes.
    ///   - repairsChecksums: Whether checksums are corrected first.
    package init(_ target: FuzzTarget, repairsChecksums: Bool) {
        self.target = target
        self.repairsChecksums = repairsChecksums
    }

    /// The initial bytes: valid ones.
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
        case .postings: return try PostingTrial.seeds()
        case .catalog: return try CatalogTrial.seeds()
        case .row: return RowTrial.seeds()
        case .identifier, .cursor, .token: return try ClientTrial.seeds(target)
        case .mapping, .schema, .schemaLock: return try TextTrial.seeds(target)
        }
    }

    /// Reads the bytes.
    ///
    /// - Throws: `FuzzViolation` if they are not handled properly.
    package func run(_ bytes: [UInt8]) throws {
        switch target {
        case .postings: try PostingTrial.run(bytes, repairsChecksums: repairsChecksums)
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
            // The manifest has the size of these; another size is detected without reading.
            if target == .checkpoint || target == .run {
                let size = target.origin.bytes(name).count
                file = Array(file.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - file.count))
            }
            try read(target.origin, [(name, file)])
        }
    }

    /// Whether correcting checksums leaves a seed unchanged.
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
        // The content of derived files is read only if they are not rebuilt.
        let reading = FuzzReading(
            repairsChecksums: repairsChecksums, ignoresDerivedFiles: target == .segment || target == .moved)
        guard try reading.problem(on: disk) == nil else { return }
        // A sound store is sound after a commit, too; if checksums were corrected, files may contradict each other.
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
            throw FuzzViolation(description: "of the salvaged store: \(problem)")
        }
    }
}
