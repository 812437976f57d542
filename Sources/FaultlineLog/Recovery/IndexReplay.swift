import FaultlineDisk

/// Derives index entries from replayed records and puts them into memtables.
struct IndexReplay {
    let deriver: any IndexDeriver
    let budget: MemoryBudget
    /// Whether records give entries during replay.
    ///
    /// Not if the tables are rebuilt from the beginning: an index may be younger than the records, so its entries are
    /// added when all records are there.
    var derives = true
    /// By the raw value of the index: a dictionary with a custom key type would make the runtime search all
    /// conformances of the process when it is first created.
    private(set) var states: [UInt32: IndexState]
    private var definitions: [UInt16: [IndexDefinition]] = [:]
    /// Whether the previous record's table has indexes: most records are of the same table as the one before.
    private var lastTable: (table: UInt16, hasIndexes: Bool)?

    init(deriver: any IndexDeriver, budget: MemoryBudget) {
        self.deriver = deriver
        self.budget = budget
        states = [:]
    }

    /// Opens the runs of the tables' indexes; `open` returns those of one index, newest first.
    mutating func openRuns(
        of tables: WorkingTables, _ open: (IndexDefinition) throws(LogError) -> [Run]
    ) throws(LogError) {
        for root in tables.set.all {
            for definition in indexes(of: root.table) where states[definition.id.rawValue]?.runs.isEmpty == true {
                states[definition.id.rawValue]?.runs = try open(definition)
            }
        }
    }

    /// The replayed indexes.
    var indexSet: IndexSet { IndexSet(Array(states.values)) }

    /// Passes the present catalog to the deriver.
    mutating func catalogChanged(_ tables: WorkingTables, _ files: FileTable) throws(LogError) {
        definitions.removeAll()
        lastTable = nil
        try deriver.catalogChanged { (id) throws(LogError) -> [UInt8]? in
            let location = try tables.location(of: id, in: TableID.catalog.rawValue)
            guard !location.isAbsent else { return nil }
            return try Self.row(id, TableID.catalog, location, files) { _, view in Array(view.row) }
        }
    }

    private mutating func indexes(of table: UInt16) -> [IndexDefinition] {
        if let known = definitions[table] { return known }
        let found = table >= TableID.firstEntity ? deriver.indexes(of: TableID(rawValue: table)) : []
        definitions[table] = found
        for definition in found where states[definition.id.rawValue] == nil {
            states[definition.id.rawValue] = IndexState(
                definition: definition, active: Memtable(definition: definition, budget: budget))
        }
        return found
    }

    private mutating func hasIndexes(_ table: UInt16) -> Bool {
        if let lastTable, lastTable.table == table { return lastTable.hasIndexes }
        let has = !indexes(of: table).isEmpty
        lastTable = (table, has)
        return has
    }

    /// Replays one version of an object.
    mutating func put(
        _ record: UnsafeRawPointer, _ header: RecordHeader, at location: Location, over old: Location,
        sequence: UInt64, files: FileTable
    ) throws(LogError) {
        guard derives, hasIndexes(header.table) else { return }
        if header.flags.contains(.noIndexChange), !old.isAbsent { return }
        if !old.isAbsent { try append(header, old, files, isDelete: true, sequence) }
        if header.flags.contains(.compressed) {
            try append(header, location, files, isDelete: false, sequence)
            return
        }
        do {
            let none = UnsafeMutableRawBufferPointer(start: nil, count: 0)
            let (view, _) = try RecordDecoder.view(
                record, id: header.id, table: header.table, location: location, scratch: none)
            emit(header.table, view, isDelete: false, sequence)
        } catch {
            throw .damaged("Object \(header.id) of table \(header.table) \(error.sentence).", "", location.byteOffset)
        }
    }

    /// Replays the deletion of an object.
    mutating func delete(_ header: RecordHeader, over old: Location, sequence: UInt64, files: FileTable)
        throws(LogError)
    {
        guard derives, !old.isAbsent, hasIndexes(header.table) else { return }
        try append(header, old, files, isDelete: true, sequence)
    }

    // MARK: Rebuilding and spilling

    /// All indexes of the tables, by the present catalog.
    mutating func indexes(of tables: WorkingTables) -> Set<IndexID> {
        var found: Set<IndexID> = []
        for root in tables.set.all { found.formUnion(indexes(of: root.table).map(\.id)) }
        return found
    }

    /// Removes all entries of some indexes.
    mutating func empty(_ wanted: Set<IndexID>) {
        for index in wanted {
            guard let definition = states[index.rawValue]?.definition else { continue }
            states[index.rawValue] = IndexState(
                definition: definition, active: Memtable(definition: definition, budget: budget))
        }
    }

    /// Whether a table has one of these indexes.
    mutating func hasAny(of wanted: Set<IndexID>, _ table: UInt16) -> Bool {
        indexes(of: table).contains { wanted.contains($0.id) }
    }

    /// Adds a record's entries in some indexes.
    func append(_ table: TableID, _ view: RecordView, only wanted: Set<IndexID>, sequence: UInt64) {
        deriver.deriveEntries(
            table: table, layout: view.layout, id: view.id, row: view.row,
            hasExtension: view.flags.contains(.hasExtension)
        ) { index, key in
            guard wanted.contains(index) else { return }
            append(index, key, view.id, isDelete: false, sequence)
        }
    }

    /// Turns every memtable that has entries into a run.
    mutating func flush(_ write: (Memtable, _ isOldest: Bool) throws(LogError) -> Run) throws(LogError) {
        for (index, state) in states.sorted(by: { $0.key < $1.key }) where state.active.entryCount > 0 {
            state.active.freeze()
            let run = try write(state.active, state.runs.isEmpty)
            states[index]?.runs.insert(run, at: 0)
            states[index]?.active = Memtable(definition: state.definition, budget: budget)
        }
    }

    private func append(
        _ header: RecordHeader, _ location: Location, _ files: FileTable, isDelete: Bool, _ sequence: UInt64
    ) throws(LogError) {
        try Self.row(header.id, TableID(rawValue: header.table), location, files) { _, view in
            emit(header.table, view, isDelete: isDelete, sequence)
        }
    }

    private func emit(_ table: UInt16, _ view: RecordView, isDelete: Bool, _ sequence: UInt64) {
        deriver.deriveEntries(
            table: TableID(rawValue: table), layout: view.layout, id: view.id, row: view.row,
            hasExtension: view.flags.contains(.hasExtension)
        ) { index, key in
            append(index, key, view.id, isDelete: isDelete, sequence)
        }
    }

    /// Adds an entry that a record carries.
    ///
    /// A key that is too large was refused when the record was written. If the log has one all the same, the object
    /// gets no entry, and verification reports it: that is better than a store that does not open.
    private func append(
        _ index: IndexID, _ key: UnsafeRawBufferPointer, _ id: RecordID, isDelete: Bool, _ sequence: UInt64
    ) {
        guard key.count <= IndexDefinition.keyByteCountMax else { return }
        states[index.rawValue]?.active.append(key: key, id: id, isDelete: isDelete, sequence: sequence)
    }

    /// Reads one record and calls `body` with it.
    static func row<R>(
        _ id: RecordID, _ table: TableID, _ location: Location, _ files: FileTable,
        _ body: (ManagedFile, RecordView) -> R
    ) throws(LogError) -> R {
        guard let file = files.find(location.segment)?.takeUnretainedValue() else {
            throw files.missing("Object \(id) of table \(table.rawValue)", location)
        }
        var buffer = RecordBuffer(byteCapacity: (location.byteCount ?? 4_096) + 64)
        while true {
            switch try RecordFile.read(id, in: table, at: location, of: file, into: buffer.bytes) {
            case .record(let view, _): return body(file, view)
            case .needsCapacity(let byteCount): buffer.grow(to: byteCount)
            }
        }
    }
}
