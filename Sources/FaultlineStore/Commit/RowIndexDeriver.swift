internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
internal import Synchronization

/// Derives the index entries of a row for the log's replay and rebuild.
///
/// Gets the schema from the catalog that is being recovered. The entries are those that `RowWriter` writes; `verify`
/// compares the two.
package final class RowIndexDeriver: IndexDeriver {
    private let state = Guarded(State())

    private struct State {
        var derivation: Derivation?
        /// The entries of the catalog that it was made from, in the order in which they were read.
        var entries: [(id: RecordID, bytes: [UInt8]?)] = []
    }

    package init() {}

    /// Does nothing if the catalog has the same bytes as before: an online migration writes it again with each batch.
    package func catalogChanged(_ read: (RecordID) throws(LogError) -> [UInt8]?) throws(LogError) {
        if try isMade(from: read) { return }
        var made = State()
        do throws(StoreError) {
            made.derivation = try StoredCatalog.read { (id) throws(LogError) -> [UInt8]? in
                let bytes = try read(id)
                made.entries.append((id, bytes))
                return bytes
            }.map { (catalog) throws(StoreError) in try Derivation(catalog) }
        } catch {
            if let cause = error.cause { throw cause }
            throw LogError(.damaged, error.message)
        }
        state.withLock { $0 = made }
    }

    private func isMade(from read: (RecordID) throws(LogError) -> [UInt8]?) throws(LogError) -> Bool {
        let entries = state.withLock { $0.entries }
        for (id, bytes) in entries where try read(id) != bytes { return false }
        return !entries.isEmpty
    }

    package func indexes(of table: TableID) -> [IndexDefinition] {
        state.withLock { $0.derivation?.definitions[table.rawValue] } ?? []
    }

    package func deriveEntries(
        table: TableID, layout: UInt16, id: RecordID, row: UnsafeRawBufferPointer, hasExtension: Bool,
        emit: (IndexID, UnsafeRawBufferPointer) -> Void
    ) {
        guard let derivation = state.withLock({ $0.derivation }) else { return }
        derivation.derive(table: table, layout: layout, id: id, row: row, hasExtension: hasExtension, emit: emit)
    }
}

/// One catalog's rules.
private final class Derivation: Sendable {
    // By the raw values of tables: a dictionary with a custom key type would make the runtime search all conformances
    // of the process when it is first created, and each opening creates these.
    let definitions: [UInt16: [IndexDefinition]]
    private let rules: [UInt16: [Rule]]
    private let links: [UInt16: (left: IndexDefinition, right: IndexDefinition)]
    private let layouts: [UInt16: RowLayout]

    /// The indexes that one schema has over a table and no earlier rule has: a table that a migration keeps has two
    /// schemas.
    private struct Rule {
        let entity: EntityStorage
        let unique: [UniqueIndex]
        let secondary: [SecondaryIndex]
        let texts: [TextIndex]
        let members: [MemberIndex]
    }

    init(_ catalog: StoredCatalog) throws(StoreError) {
        layouts = catalog.layouts
        var rules: [UInt16: [Rule]] = [:]
        var known: Set<UInt32> = []
        var links: [UInt16: (left: IndexDefinition, right: IndexDefinition)] = [:]
        var definitions: [UInt16: [IndexDefinition]] = [:]
        // The schema in force, and those that a running migration reads and writes: all of them have rows in the log.
        var views = [catalog]
        if let migration = catalog.migration {
            views.append(catalog.under(migration.sourceSchema, migration.sourceMap))
            views.append(catalog.under(migration.targetSchema, migration.targetMap))
        }
        for view in views {
            let storage = try SchemaStorage(view)
            for entity in storage.entities {
                let unique = entity.uniqueIndexes.filter { known.insert($0.definition.id.rawValue).inserted }
                let members = entity.memberIndexes.filter { known.insert($0.definition.id.rawValue).inserted }
                let secondary = entity.secondaryIndexes.filter {
                    known.insert($0.definition.id.rawValue).inserted
                }
                let texts = entity.textIndexes.filter { known.insert($0.definition.id.rawValue).inserted }
                if unique.isEmpty, secondary.isEmpty, texts.isEmpty, members.isEmpty { continue }
                rules[entity.table.rawValue, default: []].append(
                    Rule(entity: entity, unique: unique, secondary: secondary, texts: texts, members: members))
            }
            for link in view.map.links {
                links[link.table] = (
                    SchemaStorage.memberDefinition(link.leftIndex), SchemaStorage.memberDefinition(link.rightIndex)
                )
            }
            for (table, definition) in storage.indexes()
            where definitions[table.rawValue]?.contains(definition) != true {
                definitions[table.rawValue, default: []].append(definition)
            }
        }
        self.rules = rules
        self.links = links
        self.definitions = definitions
    }

    func derive(
        table: TableID, layout number: UInt16, id: RecordID, row: UnsafeRawBufferPointer, hasExtension: Bool,
        emit: (IndexID, UnsafeRawBufferPointer) -> Void
    ) {
        if let link = links[table.rawValue] {
            guard let row = LinkRow.read(row) else { return }
            MemberKey.with(owner: row.left, order: row.leftOrder, member: row.right) { emit(link.left.id, $0) }
            MemberKey.with(owner: row.right, order: row.rightOrder, member: row.left) { emit(link.right.id, $0) }
            return
        }
        guard let rules = rules[table.rawValue], let layout = layouts[number],
            let view = RowView(checking: row, layout: layout, hasExtension: hasExtension)
        else { return }
        for rule in rules { derive(rule, id, layout, view, emit) }
    }

    private func derive(
        _ rule: Rule, _ id: RecordID, _ layout: RowLayout, _ view: RowView,
        _ emit: (IndexID, UnsafeRawBufferPointer) -> Void
    ) {
        // Slots of the row's own layout, which may be older: columns are found by number, and a missing column has no
        // entry.
        func slot(_ current: Int) -> Int? { layout.slot(ofColumn: rule.entity.layout.columns[current].number) }
        var key = KeyWriter()
        for index in rule.unique {
            key.removeAll()
            var isWhole = true
            for current in index.slots {
                guard let slot = slot(current), !view.isNil(slot), key.append(row: view, slot: slot) else {
                    isWhole = false
                    break
                }
            }
            if isWhole { key.withBytes { emit(index.definition.id, $0) } }
        }
        for index in rule.secondary {
            index.makeKey(of: view, layout: layout, into: &key)
            key.withBytes { emit(index.definition.id, $0) }
        }
        for index in rule.texts {
            index.keys(of: view, id, layout: layout).forEach { emit(index.definition.id, $0) }
        }
        for index in rule.members {
            guard let slot = slot(index.slot) else { continue }
            let owner = view.toOne(slot)
            guard owner != 0 else { continue }
            MemberKey.with(owner: owner, order: view.orderKey(slot) ?? MemberKey.defaultOrder(of: id)) {
                emit(index.definition.id, $0)
            }
        }
    }
}
