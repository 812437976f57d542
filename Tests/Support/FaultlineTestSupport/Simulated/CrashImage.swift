/// The limits for enumerating crash images.
package struct CrashOptions: Sendable {
    /// All combinations are tried while at most this many items are uncertain (sectors, lengths, changes of entries),
    /// and while that makes at most `exhaustiveImageMax` images.
    package var exhaustiveItemMax = 8
    /// The largest number of images for which all combinations are tried.
    package var exhaustiveImageMax = 1 << 14
    /// The largest number of images if not all combinations are tried; nil for no limit.
    ///
    /// The last `sampleCount` of them are random.
    package var imageCountMax: Int?
    /// The number of random images: if not all combinations are tried, and, with torn sectors, if they are.
    package var sampleCount = 64
    /// One sector of this many in a random image is torn, and at least one if any was written; 0 for never.
    package var tornOneIn = 8
    /// The possible content of space that was never written.
    package var fills: [CrashFill] = CrashFill.allCases
    /// Names of files whose bytes say nothing behind a power loss: each image has them as they were written.
    package var settledNames: Set<String> = []
    /// The seed of the random images.
    package var seed: UInt64 = 1

    package init() {}
}

/// The content of space that belongs to a file and was never written.
package enum CrashFill: UInt8, Sendable, CaseIterable {
    case zeros
    /// Random bytes.
    case garbage
    /// Bytes of another file, a removed one if there is any: whole and valid at their own location.
    case stale
}

/// One disk that a power loss may leave, with its origin.
package struct CrashImage: Sendable, CustomStringConvertible {
    /// The disk; all of it is durable, and nothing is open or locked.
    package let disk: SimulatedDisk
    let choice: CrashChoice
    let space: CrashSpace

    /// Whether a sector is torn.
    package var isTorn: Bool { !choice.cuts.isEmpty }

    /// Which parts are old and which are new.
    package var description: String { choice.describe(in: space) }
}

/// One choice in a crash space.
struct CrashChoice: Hashable, Sendable {
    /// Index into `CrashSpace.outcomes`.
    var outcome: Int
    var fill: CrashFill
    /// A length for each of the space's files.
    var byteCounts: [Int]
    /// A version for each sector of each of them, one file after another; 0 is the durable one.
    var versions: [Int]
    /// Bytes of each sector that have the chosen version, the rest having the previous one; empty if no sector is torn.
    var cuts: [Int]

    /// Normalizes parts of the choice without an effect: sectors beyond the end, unreachable files, and an invisible
    /// fill.
    mutating func normalize(in space: CrashSpace) {
        var isFillVisible = false
        var place = 0
        for (index, file) in space.files.enumerated() {
            let isReachable = space.outcomes[outcome].isReachable[file.file]
            if !isReachable { byteCounts[index] = file.durableByteCount }
            let byteCount = byteCounts[index]
            for sector in file.sectors {
                let start = sector.index * SimulatedFile.sectorByteCount
                if !isReachable || start >= byteCount { versions[place] = 0 }
                if !cuts.isEmpty {
                    if versions[place] == 0 { cuts[place] = SimulatedFile.sectorByteCount }
                    if cuts[place] < SimulatedFile.sectorByteCount, versions[place] == 1 { isFillVisible = true }
                }
                let end = min(start + SimulatedFile.sectorByteCount, byteCount)
                if versions[place] == 0, end > file.durableByteCount { isFillVisible = true }
                place += 1
            }
        }
        if !isFillVisible { fill = .zeros }
        if cuts.allSatisfy({ $0 == SimulatedFile.sectorByteCount }) { cuts = [] }
    }

    /// The disk of this choice.
    func makeDisk(in space: CrashSpace) -> SimulatedDisk {
        var state = space.base
        let outcome = space.outcomes[outcome]
        state.directories = outcome.directories
        var place = 0
        for (index, file) in space.files.enumerated() {
            guard outcome.isReachable[file.file] else {
                place += file.sectors.count
                continue
            }
            let byteCount = byteCounts[index]
            var bytes = state.files[file.file].durable
            bytes.extend(to: byteCount)
            bytes.cut(to: byteCount)
            for sector in file.sectors {
                let version = versions[place]
                let cut = cuts.isEmpty ? SimulatedFile.sectorByteCount : cuts[place]
                place += 1
                let start = sector.index * SimulatedFile.sectorByteCount
                if start >= byteCount { continue }
                if version == 0 || version == 1 && cut < SimulatedFile.sectorByteCount {
                    let unwritten = sector.unwritten[Int(fill.rawValue)]
                    bytes.overwrite(unwritten, count: unwritten.count, at: start)
                }
                if version > 0 {
                    if version > 1, cut < SimulatedFile.sectorByteCount {
                        let older = sector.versions[version - 2]
                        bytes.overwrite(older, count: older.count, at: start)
                    }
                    bytes.overwrite(sector.versions[version - 1], count: cut, at: start)
                }
            }
            state.files[file.file].current = bytes
            state.files[file.file].durable = bytes
        }
        for file in outcome.unreachable {
            state.files[file] = SimulatedFile()
            state.files[file].isFree = true
            state.freeFiles.append(file)
        }
        state.startCount += 1
        return SimulatedDisk(state: state)
    }

    func describe(in space: CrashSpace) -> String {
        let outcome = space.outcomes[outcome]
        var parts = ["\(outcome.changeCount) of \(space.pendingChangeCount) changes of entries, new space \(fill)"]
        var place = 0
        for (index, file) in space.files.enumerated() {
            let path = Self.path(of: file.file, in: outcome.directories) ?? "unreachable file"
            let least = file.byteCounts[0]
            let most = file.byteCounts[file.byteCounts.count - 1]
            var text = "\(path): \(byteCounts[index]) of \(least)...\(most) bytes"
            for sector in file.sectors {
                text += ", sector \(sector.index) version \(versions[place])/\(sector.versions.count)"
                if !cuts.isEmpty, cuts[place] < SimulatedFile.sectorByteCount {
                    text += " torn after \(cuts[place]) bytes"
                }
                place += 1
            }
            parts.append(text)
        }
        return parts.joined(separator: "; ")
    }

    private static func path(
        of file: Int, in directories: [SimulatedDirectory], from directory: Int = 0, prefix: String = "/"
    ) -> String? {
        for (name, node) in directories[directory].durable.sorted(by: { $0.key < $1.key }) {
            switch node {
            case .file(file): return prefix + name
            case .directory(let child):
                if let path = path(of: file, in: directories, from: child, prefix: prefix + name + "/") { return path }
            default: break
            }
        }
        return nil
    }
}
