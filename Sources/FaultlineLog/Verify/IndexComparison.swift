/// Compares indexes with what the records say, in memory that does not grow: both sides are counted and summed, and
/// each key is looked up.
struct IndexComparison {
    private struct Sum: Equatable {
        var count: UInt64 = 0
        var hash: UInt64 = 0

        mutating func add(_ key: UnsafeRawBufferPointer, _ id: RecordID) {
            count += 1
            hash &+= IndexHash.finish(IndexHash.hash(key, prefixByteCountMax: Int.max) &+ id &* 0x9E37_79B9_7F4A_7C15)
        }
    }

    let snapshot: Snapshot
    let deriver: any IndexDeriver
    private var expected: [IndexID: Sum] = [:]
    private var definitions: [IndexID: IndexDefinition] = [:]
    private var missing: [IndexID: RecordID] = [:]

    init(snapshot: Snapshot, deriver: any IndexDeriver) {
        self.snapshot = snapshot
        self.deriver = deriver
        for state in snapshot.indexes.all {
            definitions[state.definition.id] = state.definition
            expected[state.definition.id] = Sum()
        }
    }

    /// Counts a record's entries, and looks each up.
    mutating func add(_ view: RecordView, of table: TableID) throws(LogError) {
        let indexes = deriver.indexes(of: table)
        guard !indexes.isEmpty else { return }
        for definition in indexes where definitions[definition.id] == nil {
            definitions[definition.id] = definition
        }
        var failure: LogError?
        deriver.deriveEntries(
            table: table, layout: view.layout, id: view.id, row: view.row,
            hasExtension: view.flags.contains(.hasExtension)
        ) { index, key in
            expected[index, default: Sum()].add(key, view.id)
            guard let definition = definitions[index] else { return }
            do throws(LogError) {
                let found = try snapshot.firstID(in: definition, key: key)
                if found == nil || definition.isUnique && found != view.id { missing[index] = view.id }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Compares.
    func finish(_ finding: (Finding) -> Void) {
        for (index, id) in missing.sorted(by: { $0.key < $1.key }) {
            finding(Finding(.contradiction, "Index \(index.rawValue) does not find object \(id) by its key.", id: id))
        }
        for (index, sum) in expected.sorted(by: { $0.key < $1.key }) {
            guard let definition = definitions[index] else { continue }
            var found = Sum()
            do {
                for run in snapshot.indexes.find(index)?.pointee.runs ?? [] { try run.verify() }
                try snapshot.forEachEntry(in: definition, prefix: UnsafeRawBufferPointer(start: nil, count: 0)) {
                    key, id in
                    found.add(key, id)
                    return true
                }
            } catch let error as LogError {
                finding(Finding(error))
                continue
            } catch {
                continue
            }
            if found != sum {
                finding(
                    Finding(
                        .contradiction,
                        "Index \(index.rawValue) has \(found.count) entries, the records \(sum.count)"
                            + (found.count == sum.count ? ", other ones." : ".")
                    ))
            }
        }
    }
}
