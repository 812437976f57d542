/// All uncertainty of a disk at one moment, from which images are chosen.
///
/// Uncertain are: the version of each dirty sector on the medium; the length of each file; the pending changes of
/// entries that took place; and the content of space that was never written.
final class CrashSpace: Sendable {
    /// A sector written since the last synchronization, or lost by a failed one.
    struct Sector: Sendable {
        let index: Int
        /// The sector's bytes after each write that changed it, oldest first.
        ///
        /// Version 0, the durable one, is not included.
        let versions: [[UInt8]]
        /// Version 0 by `CrashFill.rawValue`; empty if it is just the durable bytes, with zeros behind the end.
        let unwritten: [[UInt8]]
    }

    struct File: Sendable {
        let file: Int
        let durableByteCount: Int
        /// The possible lengths, ascending: the durable length, the present one, and each between.
        let byteCounts: [Int]
        let sectors: [Sector]
    }

    /// The entries after a set of pending changes.
    struct Outcome: Sendable {
        let directories: [SimulatedDirectory]
        let isReachable: [Bool]
        let unreachable: [Int]
        /// The number of pending changes that took place.
        let changeCount: Int
    }

    /// The state without anything uncertain: durable bytes, durable lengths, durable entries.
    let base: SimulatedState
    let files: [File]
    /// The first has none of the pending changes, the last all of them.
    let outcomes: [Outcome]
    let pendingChangeCount: Int
    /// Whether `outcomes` includes all legal ones.
    let hasEveryOutcome: Bool

    init(_ state: SimulatedState, options: CrashOptions) {
        var outcomes = Self.outcomes(state, options: options)
        let wanted = outcomes.list
        hasEveryOutcome = outcomes.isComplete
        pendingChangeCount = state.pending.count

        let settled = Self.files(named: options.settledNames, in: wanted)
        var base = state
        base.pending = []
        for file in base.files.indices {
            if settled.contains(file) { base.files[file].durable = base.files[file].current }
            base.files[file].current = base.files[file].durable
            base.files[file].writes = []
            base.files[file].lost = [:]
            base.files[file].locks = []
            base.files[file].handleCount = 0
        }
        self.base = base
        let isEverReachable = state.files.indices.map { file in wanted.contains { $0.isReachable[file] } }
        outcomes.list = []
        self.outcomes = wanted

        let removed = state.files.indices.filter { !isEverReachable[$0] && !state.files[$0].isFree }
        let sources = (removed.isEmpty ? Array(state.files.indices) : removed).map { state.files[$0].current }
        let stale = sources.max { $0.byteCount < $1.byteCount }?.bytes(at: 0, count: 1 << 16) ?? []
        files = state.files.indices.filter {
            isEverReachable[$0] && state.files[$0].isDirty && !settled.contains($0)
        }.map {
            Self.file($0, state.files[$0], stale: stale, options: options)
        }
    }

    /// The number of uncertain items: sectors, lengths, changes of entries.
    var itemCount: Int {
        files.reduce(pendingChangeCount) { $0 + $1.sectors.count + ($1.byteCounts.count > 1 ? 1 : 0) }
    }

    // MARK: files

    /// The files that have one of some names in an outcome.
    private static func files(named names: Set<String>, in outcomes: [Outcome]) -> Set<Int> {
        guard !names.isEmpty else { return [] }
        var files: Set<Int> = []
        for directory in outcomes.flatMap(\.directories) {
            for name in names {
                if case .file(let file)? = directory.current[name] { files.insert(file) }
            }
        }
        return files
    }

    private static func file(_ number: Int, _ file: SimulatedFile, stale: [UInt8], options: CrashOptions) -> File {
        let size = SimulatedFile.sectorByteCount
        let lengths = [file.durable.byteCount, file.current.byteCount] + file.writes.map(\.byteCountAfter)
        let byteCounts = Set(lengths).sorted()

        var latest: [Int: [UInt8]] = [:]
        var versions: [Int: [[UInt8]]] = [:]
        for sector in file.lost.keys { versions[sector] = [] }
        for write in file.writes {
            for sector in write.sectors {
                let place = sector * size
                var bytes = latest[sector] ?? file.lost[sector] ?? file.durable.bytes(at: place, count: size)
                bytes.append(contentsOf: repeatElement(0, count: size - bytes.count))
                let overlap = max(place, write.offset)..<min(place + size, write.offset + write.bytes.count)
                let before = bytes
                bytes.replaceSubrange(
                    (overlap.lowerBound - place)..<(overlap.upperBound - place),
                    with: write.bytes[(overlap.lowerBound - write.offset)..<(overlap.upperBound - write.offset)])
                let reachesNewSpace = place + size > file.durable.byteCount
                if bytes != before || versions[sector] == nil && (reachesNewSpace || file.lost[sector] != nil) {
                    versions[sector, default: []].append(bytes)
                }
                latest[sector] = bytes
            }
        }
        return File(
            file: number, durableByteCount: file.durable.byteCount, byteCounts: byteCounts,
            sectors: versions.sorted { $0.key < $1.key }.map { sector, versions in
                let unwritten = options.fills.map(\.rawValue).max().map { last in
                    (0...last).map { raw in
                        CrashFill(rawValue: raw).map {
                            unwrittenSector(sector, of: number, file, $0, stale: stale, seed: options.seed)
                        } ?? []
                    }
                }
                return Sector(index: sector, versions: versions, unwritten: unwritten ?? [])
            })
    }

    /// A sector's durable bytes and, behind them, the content of space that was never written; empty if that is zeros
    /// or there is none.
    private static func unwrittenSector(
        _ sector: Int, of number: Int, _ file: SimulatedFile, _ fill: CrashFill, stale: [UInt8], seed: UInt64
    ) -> [UInt8] {
        let size = SimulatedFile.sectorByteCount
        let start = sector * size
        guard fill != .zeros, start + size > file.durable.byteCount else { return [] }
        var bytes: [UInt8]
        if fill == .stale, !stale.isEmpty {
            bytes = (0..<size).map { stale[(start + $0) % stale.count] }
        } else {
            var random = Seed(seed ^ UInt64(truncatingIfNeeded: number &* 0x1_0001 &+ start))
            bytes = random.bytes(size)
        }
        let kept = file.durable.bytes(at: start, count: size)
        bytes.replaceSubrange(0..<kept.count, with: kept)
        return bytes
    }

    // MARK: entries

    /// The outcomes of all legal subsets of the pending changes if they are few, of some otherwise.
    private static func outcomes(_ state: SimulatedState, options: CrashOptions) -> (list: [Outcome], isComplete: Bool)
    {
        let pending = state.pending
        let needs = pending.indices.map { later in (0..<later).filter { pending[later].dependsOn(pending[$0]) } }
        var seen: Set<[[String: SimulatedNode]]> = []
        var list: [Outcome] = []
        func add(_ isChosen: [Bool]) {
            var directories = state.directories
            for index in pending.indices where isChosen[index] {
                SimulatedState.apply(pending[index], to: &directories)
            }
            let isReachable = reachability(directories, fileCount: state.files.count)
            let visible = reachableDirectories(directories)
            // Unreachable directories have no effect.
            let key = directories.indices.map { visible[$0] ? directories[$0].durable : [:] }
            guard seen.insert(key).inserted else { return }
            for index in directories.indices { directories[index].current = directories[index].durable }
            list.append(
                Outcome(
                    directories: directories, isReachable: isReachable,
                    unreachable: isReachable.indices.filter { !isReachable[$0] && !state.files[$0].isFree },
                    changeCount: isChosen.count { $0 }))
        }
        func close(_ isChosen: [Bool]) -> [Bool] {
            var closed = isChosen
            for later in pending.indices.reversed() where closed[later] {
                for earlier in needs[later] { closed[earlier] = true }
            }
            return closed
        }

        let none = [Bool](repeating: false, count: pending.count)
        if pending.count <= options.exhaustiveItemMax {
            for subset in 0..<(1 << pending.count) {
                let isChosen = pending.indices.map { subset >> $0 & 1 == 1 }
                if close(isChosen) == isChosen { add(isChosen) }
            }
            return (list, true)
        }
        add(none)
        var random = Seed(options.seed &+ UInt64(pending.count))
        let prefixes =
            pending.count <= 32 ? Array(1..<pending.count) : (0..<32).map { _ in 1 + random.below(pending.count - 1) }
        for length in prefixes { add(pending.indices.map { $0 < length }) }
        for index in prefixes { add(close(pending.indices.map { $0 == index })) }
        for _ in 0..<options.sampleCount {
            let density = 1 + random.below(7)
            add(close(pending.indices.map { _ in random.below(8) < density }))
        }
        add(none.map { _ in true })
        return (list, false)
    }

    private static func reachableDirectories(_ directories: [SimulatedDirectory]) -> [Bool] {
        var isReachable = [Bool](repeating: false, count: directories.count)
        var open = [0]
        while let next = open.popLast() {
            isReachable[next] = true
            for case .directory(let child) in directories[next].durable.values where !isReachable[child] {
                open.append(child)
            }
        }
        return isReachable
    }

    private static func reachability(_ directories: [SimulatedDirectory], fileCount: Int) -> [Bool] {
        var isReachable = [Bool](repeating: false, count: fileCount)
        for (index, isVisible) in reachableDirectories(directories).enumerated() where isVisible {
            for case .file(let file) in directories[index].durable.values { isReachable[file] = true }
        }
        return isReachable
    }
}
