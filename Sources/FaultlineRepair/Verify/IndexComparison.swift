import FaultlineLog

/// Compares indexes with the records, and looks entries up as a reader would.
///
/// Records are added in any order; then each index is visited once, from its first entry to its last. Neither is kept
/// in memory: `EntryDifference` takes the entries of both.
///
/// - Complexity: O(n) for n entries, and a look-up for each search prefix.
struct IndexComparison {
    let snapshot: Snapshot
    let deriver: any IndexDeriver
    private var differences: [IndexID: EntryDifference] = [:]
    private var definitions: [IndexID: IndexDefinition] = [:]
    /// Indexes of tables with unreadable records: entries that only these indexes have may be right.
    private var incomplete: Set<IndexID> = []

    init(snapshot: Snapshot, deriver: any IndexDeriver) {
        self.snapshot = snapshot
        self.deriver = deriver
        for state in snapshot.indexes.all {
            definitions[state.definition.id] = state.definition
            differences[state.definition.id] = EntryDifference()
        }
    }

    /// Adds the entries that a record must have.
    mutating func add(_ view: RecordView, of table: TableID) {
        let indexes = deriver.indexes(of: table)
        guard !indexes.isEmpty else { return }
        for definition in indexes where definitions[definition.id] == nil {
            definitions[definition.id] = definition
        }
        deriver.deriveEntries(
            table: table, layout: view.layout, id: view.id, row: view.row,
            hasExtension: view.flags.contains(.hasExtension)
        ) { index, key in
            differences[index, default: EntryDifference()].add(key, view.id, of: .records)
        }
    }

    /// Records that a record of a table could not be read, which was already reported.
    mutating func noteUnreadable(in table: TableID) {
        incomplete.formUnion(deriver.indexes(of: table).map(\.id))
    }

    /// Visits the indexes and reports differences.
    ///
    /// - Throws: Disk errors; damage is a finding.
    func finish(_ finding: (Finding) -> Void) throws(LogError) {
        for (index, definition) in definitions.sorted(by: { $0.key < $1.key }) {
            var difference = differences[index] ?? EntryDifference()
            do {
                try verifyRuns(of: index)
                try walk(definition, &difference, finding)
            } catch let error as LogError {
                guard error.code == .damaged else { throw error }
                finding(Finding(error))
                continue
            } catch {
                continue
            }
            report(difference, of: index, finding)
        }
    }

    private func verifyRuns(of index: IndexID) throws(LogError) {
        guard let state = snapshot.indexes[index] else { return }
        for run in state.runs {
            do throws(LogError) { try run.verify() } catch { throw state.noting(error) }
        }
    }

    private func walk(
        _ definition: IndexDefinition, _ difference: inout EntryDifference, _ finding: (Finding) -> Void
    ) throws {
        let prefix = KeyCopy()
        var isFirst = true
        try snapshot.forEachEntry(in: definition, prefix: UnsafeRawBufferPointer(start: nil, count: 0)) { key, id in
            difference.add(key, id, of: .index)
            let searched = UnsafeRawBufferPointer(rebasing: key.prefix(definition.searchPrefix.byteCountMax))
            guard let start = searched.baseAddress else { return true }
            if !isFirst, prefix.equals(start, searched.count) { return true }
            isFirst = false
            prefix.set(start, searched.count)
            if try !isFound(key, id, definition, by: searched) {
                finding(
                    Finding(
                        .contradiction, "Index \(definition.id.rawValue) does not find object \(id) by its key.", id: id
                    ))
            }
            return true
        }
    }

    /// Whether a look-up by the search prefix leads to the first entry that begins with it.
    private func isFound(
        _ key: UnsafeRawBufferPointer, _ id: RecordID, _ definition: IndexDefinition, by prefix: UnsafeRawBufferPointer
    ) throws -> Bool {
        if definition.isUnique { return try snapshot.firstID(in: definition, key: key) == id }
        var isFound = false
        try snapshot.forEachEntry(in: definition, prefix: prefix) { foundKey, foundID in
            isFound = foundID == id && foundKey.elementsEqual(key)
            return false
        }
        return isFound
    }

    private func report(_ difference: EntryDifference, of index: IndexID, _ finding: (Finding) -> Void) {
        let (onlyInRecords, onlyInIndex, areThereMore) = difference.findings
        for id in onlyInRecords {
            finding(Finding(.contradiction, "Index \(index.rawValue) lacks an entry of object \(id).", id: id))
        }
        if incomplete.contains(index) { return }
        for id in onlyInIndex {
            finding(
                Finding(
                    .contradiction, "Index \(index.rawValue) has an entry of object \(id) that its record lacks.",
                    id: id))
        }
        guard areThereMore else { return }
        let counts = (difference.indexEntryCount, difference.recordEntryCount)
        finding(
            Finding(
                .contradiction,
                "Index \(index.rawValue) has \(counts.0) entries, the records \(counts.1)"
                    + (counts.0 == counts.1 ? ", other ones." : ".")))
    }
}
