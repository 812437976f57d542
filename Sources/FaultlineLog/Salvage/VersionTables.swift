/// What decides between the versions of every object: where the newest that verifies lies, its sequence number, and
/// that of a newer one that is known to be lost.
///
/// Versions may come in any order: of one object, the highest sequence number counts, a delete like a put.
///
/// Memory: pages under the cache's budget; what exceeds a share of it lies in files that nothing lists.
struct VersionTables {
    private let directory: StoreDirectory
    private var places: WorkingTables
    /// Sequence numbers of the newest versions that verify, and of deletes, in the shape of locations.
    private var sequences: WorkingTables
    private var losses: WorkingTables
    /// The newest drop of each table.
    private var drops: [UInt16: UInt64] = [:]
    /// Bytes of changed pages that the last spill could not store.
    private var pinnedByteCount = 0
    private var changeCount = 0

    /// - Parameters:
    ///   - cache: Holds the pages.
    ///   - directory: Where pages are spilled.
    init(cache: PageCache, directory: StoreDirectory) {
        self.directory = directory
        places = WorkingTables(cache: cache)
        sequences = WorkingTables(cache: cache)
        losses = WorkingTables(cache: cache)
    }

    // MARK: Taking versions in

    /// Takes in a version that verifies.
    mutating func put(
        _ id: RecordID, in table: UInt16, at location: Location, _ sequence: UInt64
    ) throws(LogError) {
        if try takes(id, table, sequence) { _ = try places.replace(id, in: table, with: location) }
    }

    /// Takes in the end of an object.
    mutating func delete(_ id: RecordID, in table: UInt16, _ sequence: UInt64) throws(LogError) {
        if try takes(id, table, sequence) { _ = try places.replace(id, in: table, with: .absent) }
    }

    /// Takes in a version of which only the header verifies.
    mutating func lose(_ id: RecordID, in table: UInt16, _ sequence: UInt64) throws(LogError) {
        try spillIfNeeded()
        guard sequence >= Self.number(try sequences.location(of: id, in: table)) else { return }
        let old = try losses.replace(id, in: table, with: Self.entry(sequence))
        if Self.number(old) > sequence { _ = try losses.replace(id, in: table, with: old) }
    }

    /// Takes in the end of a table: all that it has of lower numbers is dead.
    mutating func drop(_ table: UInt16, _ sequence: UInt64) {
        drops[table] = max(drops[table] ?? 0, sequence)
    }

    /// Notes a sequence number, unless there is a newer one.
    private mutating func takes(_ id: RecordID, _ table: UInt16, _ sequence: UInt64) throws(LogError) -> Bool {
        try spillIfNeeded()
        let entry = Self.entry(sequence, isBehindDrop: drops[table] == sequence)
        let old = try sequences.replace(id, in: table, with: entry)
        guard Self.number(old) <= sequence else {
            _ = try sequences.replace(id, in: table, with: old)
            return false
        }
        if losses.set[table] != nil, Self.number(try losses.location(of: id, in: table)) <= sequence {
            _ = try losses.replace(id, in: table, with: .absent)
        }
        return true
    }

    /// A sequence number, at most 2^62, and whether its transaction had dropped the table before, as an entry that is
    /// not absent.
    private static func entry(_ sequence: UInt64, isBehindDrop: Bool = false) -> Location {
        Location(
            segment: UInt32(truncatingIfNeeded: sequence) << 1 | 1, offset: UInt32(truncatingIfNeeded: sequence >> 31),
            packed: isBehindDrop ? 1 : 0)
    }

    /// The sequence number of an entry; 0 if it is absent.
    private static func number(_ entry: Location) -> UInt64 { UInt64(entry.segment >> 1) | UInt64(entry.offset) << 31 }

    /// Writes changed pages to a file when they exceed a share of the budget; asked at every 64th change.
    private mutating func spillIfNeeded() throws(LogError) {
        changeCount &+= 1
        guard changeCount & 63 == 0 else { return }
        let cache = places.cache
        func changed() -> Int {
            cache.budget.used(for: .pages) - cache.cleanPageCount * TablePage.byteCount
        }
        guard changed() > pinnedByteCount + cache.budget.byteCount / 4 else { return }
        places.leavePage()
        sequences.leavePage()
        losses.leavePage()
        for set in [places.set, sequences.set, losses.set] {
            try PageSpill.spill(set, cache: cache, in: directory, sequence: 0)
        }
        pinnedByteCount = changed()
    }

    // MARK: Reading them

    /// An object as the versions leave it.
    struct Object {
        let id: RecordID
        /// The newest version that verifies; nil if none does.
        let location: Location?
        let sequence: UInt64
        /// Whether a newer version is known not to verify.
        let isNewerLost: Bool
    }

    /// The tables that have versions, ascending.
    var tables: [UInt16] {
        Set(sequences.set.all.map(\.table)).union(losses.set.all.map(\.table)).sorted()
    }

    /// An identifier above each that was met in a table.
    func nextID(in table: UInt16) -> RecordID { max(sequences.nextID(in: table), losses.nextID(in: table)) }

    /// Calls `body` with each object of a table that has a version or is known to have had one, ascending.
    mutating func forEachObject(
        of table: UInt16, _ body: (Object) throws(LogError) -> Void
    ) throws(LogError) {
        places.leavePage()
        sequences.leavePage()
        losses.leavePage()
        let roots = [places.set[table], sequences.set[table], losses.set[table]]
        let dropped = drops[table] ?? 0
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 3 * TablePage.byteCount, alignment: 64)
        defer { memory.deallocate() }
        for page in 0..<(roots.compactMap { $0?.pageCount }.max() ?? 0) {
            var isEmpty = true
            for (index, root) in roots.enumerated() {
                let target = memory + index * TablePage.byteCount
                if let root, let handle = root.handle(ofPage: page) {
                    try root.cache.copy(handle, to: target)
                    isEmpty = false
                } else {
                    TablePage.initialize(target, table: table, number: UInt32(page))
                }
            }
            if isEmpty { continue }
            for entry in 0..<TablePage.entryCount {
                let place = memory + TablePage.headerByteCount + entry * Location.byteCount
                let location = Location(reading: place)
                let version = Location(reading: place + TablePage.byteCount)
                let sequence = Self.number(version)
                let lost = Self.number(Location(reading: place + 2 * TablePage.byteCount))
                let isAlive =
                    !location.isAbsent && (sequence > dropped || sequence == dropped && version.packed == 1)
                guard isAlive || lost > dropped else { continue }
                try body(
                    Object(
                        id: UInt64(page * TablePage.entryCount + entry) + 1, location: isAlive ? location : nil,
                        sequence: sequence, isNewerLost: lost > dropped))
            }
        }
    }
}
