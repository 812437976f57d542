// Many look-ups at once: each step is made for a window of keys, and asks for the memory of the next, so that the
// processor waits for many cache lines at a time and not for one after the other.
extension IndexState {
    /// Keys that go through the steps together.
    private static let window = 32

    /// Asks for what look-ups by these hashes meet first in memtables.
    ///
    /// Sixteen to sixty-four at a time serve best.
    @inline(__always)
    func prefetch(hashes: UnsafeBufferPointer<UInt64>) {
        active.prefetch(hashes: hashes)
        for memtable in frozen { memtable.prefetch(hashes: hashes) }
    }

    /// Whether a memtable may have an entry of that hash.
    @inline(__always)
    func isInMemtables(hash: UInt64) -> Bool {
        if active.mayContain(hash: hash) { return true }
        for memtable in frozen where memtable.mayContain(hash: hash) { return true }
        return false
    }

    /// Who has each of many keys.
    ///
    /// - Parameters:
    ///   - keys: Whole keys, in any order.
    ///   - sequence: Entries above this sequence number are not there.
    ///   - ids: Gets an identifier for each key, 0 where nobody has it.
    /// - Throws: `.damaged` if a run does not verify; what reading it can cause.
    package func firstIDs(
        keys: UnsafeBufferPointer<UnsafeRawBufferPointer>, at sequence: UInt64, into ids: UnsafeMutablePointer<RecordID>
    ) throws(LogError) {
        var batch = LookUpBatch(capacity: min(Self.window, keys.count))
        var start = 0
        while start < keys.count {
            let part = UnsafeBufferPointer(rebasing: keys[start..<min(start + Self.window, keys.count)])
            try batch.run(part, in: self, at: sequence, into: ids + start)
            start += part.count
        }
    }
}

/// A window of keys on their way through an index.
private struct LookUpBatch: ~Copyable {
    private var resolvers: [KeyResolver]
    private var hashes: [UInt64]
    /// Where the search in the run at hand stands, by key.
    private var places: [Run.Place?]
    private var isWanted: [Bool]

    init(capacity: Int) {
        resolvers = Array(repeating: KeyResolver(), count: capacity)
        hashes = Array(repeating: 0, count: capacity)
        places = Array(repeating: nil, count: capacity)
        isWanted = Array(repeating: false, count: capacity)
    }

    mutating func run(
        _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>, in state: IndexState, at sequence: UInt64,
        into ids: UnsafeMutablePointer<RecordID>
    ) throws(LogError) {
        for number in 0..<keys.count {
            hashes[number] = state.hash(of: keys[number])
            resolvers[number] = KeyResolver()
        }
        hashes.withUnsafeBufferPointer { state.prefetch(hashes: UnsafeBufferPointer(rebasing: $0[..<keys.count])) }
        look(into: state.active, keys, at: sequence)
        for memtable in state.frozen { look(into: memtable, keys, at: sequence) }
        for run in state.runs where run.footer.firstSequence <= sequence { try look(into: run, keys, at: sequence) }
        for number in 0..<keys.count {
            let finding = resolvers[number].finding
            ids[number] = finding.map { $0.isDelete ? 0 : $0.id } ?? 0
        }
    }

    private mutating func look(
        into memtable: Memtable, _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>, at sequence: UInt64
    ) {
        if memtable.entryCount == 0 { return }
        hashes.withUnsafeBufferPointer {
            memtable.prefetchEntries(hashes: UnsafeBufferPointer(rebasing: $0[..<keys.count]))
        }
        for number in 0..<keys.count where !resolvers[number].isLive {
            memtable.resolve(key: keys[number], hash: hashes[number], at: sequence, into: &resolvers[number])
        }
    }

    private mutating func look(
        into run: Run, _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>, at sequence: UInt64
    ) throws(LogError) {
        var isAny = false
        for number in 0..<keys.count {
            isWanted[number] = !resolvers[number].isLive && resolvers[number].wants(run.footer.lastSequence)
            if isWanted[number] { isAny = true }
        }
        guard isAny else { return }
        try ask(run, keys.count)
        for number in 0..<keys.count { places[number] = isWanted[number] ? run.root : nil }
        for depth in 0..<run.footer.height {
            for number in 0..<keys.count {
                guard let place = places[number] else { continue }
                let child = try run.child(of: place, depth: depth, key: keys[number])
                if let child { run.prefetchBlock(child) }
                places[number] = child
            }
        }
        for number in 0..<keys.count {
            guard let place = places[number] else { continue }
            try run.resolve(key: keys[number], from: place, at: sequence, into: &resolvers[number])
        }
    }

    /// Leaves those wanted that the run's filter lets through.
    private mutating func ask(_ run: Run, _ count: Int) throws(LogError) {
        var failure: LogError?
        hashes.withUnsafeBufferPointer { hashes in
            isWanted.withUnsafeMutableBufferPointer { isWanted in
                guard let start = isWanted.baseAddress else { return }
                do throws(LogError) { try run.filter(UnsafeBufferPointer(rebasing: hashes[..<count]), start) } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
    }
}
