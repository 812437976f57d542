import FaultlineLog

/// Finds the newest version of every object: the location of the newest that verifies, its sequence number, and that of
/// a newer one that is known to be lost.
///
/// Versions may come in any order. The highest sequence number of an object counts, a delete like a put.
///
/// Memory: pages under the cache's budget; pages that exceed a share of it are in unlisted files.
struct VersionTables {
    private let directory: StoreDirectory
    private var places: WorkingTables
    /// Of the newest versions that verify, and of deletes; marked if their transaction had dropped the table before.
    private var sequences: SequenceTable
    /// Sequence numbers of newer versions that are lost.
    private var losses: SequenceTable
    /// The newest drop of each table.
    private var drops: [UInt16: UInt64] = [:]
    /// Bytes of changed pages that the last spill could not store.
    private var pinnedByteCount = 0
    private var changeCount = 0

    /// - Parameters:
    ///   - cache: The cache of the pages.
    ///   - directory: The directory to spill pages to.
    init(cache: PageCache, directory: StoreDirectory) {
        self.directory = directory
        places = WorkingTables(cache: cache)
        sequences = SequenceTable(cache: cache)
        losses = SequenceTable(cache: cache)
    }

    // MARK: Adding versions

    /// Adds a version that verifies.
    mutating func put(
        _ id: RecordID, in table: UInt16, at location: Location, _ sequence: UInt64
    ) throws(LogError) {
        if try takes(id, table, sequence) { _ = try places.replace(id, in: table, with: location) }
    }

    /// Adds the deletion of an object.
    mutating func delete(_ id: RecordID, in table: UInt16, _ sequence: UInt64) throws(LogError) {
        if try takes(id, table, sequence) { _ = try places.replace(id, in: table, with: .absent) }
    }

    /// Adds a version of which only the header verifies.
    mutating func lose(_ id: RecordID, in table: UInt16, _ sequence: UInt64) throws(LogError) {
        try spillIfNeeded()
        guard sequence >= (try sequences.note(at: id, in: table)).sequence else { return }
        let old = try losses.replace(id, in: table, with: SequenceTable.Note(sequence))
        if old.sequence > sequence { _ = try losses.replace(id, in: table, with: old) }
    }

    /// Adds the drop of a table: all its versions with lower numbers are dead.
    mutating func drop(_ table: UInt16, _ sequence: UInt64) {
        drops[table] = max(drops[table] ?? 0, sequence)
    }

    /// Records a sequence number, unless there is a newer one.
    private mutating func takes(_ id: RecordID, _ table: UInt16, _ sequence: UInt64) throws(LogError) -> Bool {
        try spillIfNeeded()
        let note = SequenceTable.Note(sequence, isMarked: drops[table] == sequence)
        let old = try sequences.replace(id, in: table, with: note)
        guard old.sequence <= sequence else {
            _ = try sequences.replace(id, in: table, with: old)
            return false
        }
        let lost = try losses.note(at: id, in: table).sequence
        if lost > 0, lost <= sequence { _ = try losses.replace(id, in: table, with: SequenceTable.Note(0)) }
        return true
    }

    /// Writes changed pages to a file when they exceed a share of the budget; checked at every 64th change.
    private mutating func spillIfNeeded() throws(LogError) {
        changeCount &+= 1
        guard changeCount & 63 == 0 else { return }
        let cache = places.cache
        func changed() -> Int {
            cache.budget.used(for: .pages) - cache.cleanPageCount * TablePage.byteCount
        }
        guard changed() > pinnedByteCount + cache.budget.byteCount / 4 else { return }
        places.leavePage()
        try PageSpill.spill(places.set, cache: cache, in: directory, sequence: 0)
        try sequences.spill(in: directory)
        try losses.spill(in: directory)
        pinnedByteCount = changed()
    }

    // MARK: Reading them

    /// The result for one object.
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
        Set(sequences.tables).union(losses.tables).sorted()
    }

    /// An identifier above each one found in a table.
    func nextID(in table: UInt16) -> RecordID { max(sequences.nextID(in: table), losses.nextID(in: table)) }

    /// Calls `body` with each object of a table that has a version or is known to have had one, ascending.
    mutating func forEachObject(
        of table: UInt16, _ body: (Object) throws(LogError) -> Void
    ) throws(LogError) {
        places.leavePage()
        let roots = [places.set[table], sequences.root(of: table), losses.root(of: table)]
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
                let version = SequenceTable.Note(reading: Location(reading: place + TablePage.byteCount))
                let sequence = version.sequence
                let lost = SequenceTable.Note(reading: Location(reading: place + 2 * TablePage.byteCount)).sequence
                let isAlive =
                    !location.isAbsent && (sequence > dropped || sequence == dropped && version.isMarked)
                guard isAlive || lost > dropped else { continue }
                try body(
                    Object(
                        id: UInt64(page * TablePage.entryCount + entry) + 1, location: isAlive ? location : nil,
                        sequence: sequence, isNewerLost: lost > dropped))
            }
        }
    }
}
