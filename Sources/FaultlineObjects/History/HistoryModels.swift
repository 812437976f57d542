internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// Translates the numbers in the history: entities, properties, values.
final class HistoryModels: Sendable {
    private let store: RowStore
    private let types: [String: ModelType]
    let storeIdentifier: String
    private let ordinals: [TableID: Int]
    private let classes: HistoryClasses

    init(_ store: RowStore, _ types: [ModelType]) {
        self.store = store
        self.types = Dictionary(types.map { ($0.entityName, $0) }) { first, _ in first }
        storeIdentifier = IdentifierText.text(high: store.log.storeID.0, low: store.log.storeID.1)
        classes = HistoryClasses(store)
        ordinals = Dictionary(uniqueKeysWithValues: store.storage.entities.map { ($0.table, $0.ordinal) })
    }

    private enum Met {
        case inserted
        case updated(Set<Int>)
        case deleted([(slot: Int, name: String, value: any Sendable)])

        /// The same by the slots and names of a class of a table.
        func of(_ family: ModelFamily, _ place: Int) -> Met {
            let (slots, names) = (family.slots[place], family.hierarchy.classes[place].names)
            switch self {
            case .inserted: return self
            case .updated(let changed): return .updated(Set(changed.compactMap(slots.firstIndex)))
            case .deleted(let values):
                return .deleted(
                    values.compactMap { value in
                        slots.firstIndex(of: value.slot).map { ($0, names[$0], value.value) }
                    })
            }
        }
    }

    /// The changes of a transaction, each object once.
    func changes(of transaction: StoredTransaction) -> [HistoryChange] {
        var order: [StoredKey] = []
        var met: [StoredKey: Met] = [:]
        // Fetched transactions were checked already.
        try? forEachChange(of: transaction) { key, change in
            guard let known = met[key] else {
                order.append(key)
                met[key] = change
                return
            }
            switch (known, change) {
            case (.updated(let some), .updated(let others)): met[key] = .updated(some.union(others))
            case (.updated, _): met[key] = change
            // An inserted or deleted object is not updated as well.
            default: break
            }
        }
        return order.enumerated().compactMap { place, key in
            let entity = store.storage.entities[key.ordinal]
            guard let type = types[entity.name], let change = met[key] else { return nil }
            let identifier = PersistentIdentifier(
                storeID: store.log.storeID, entityName: entity.name, number: key.number)
            guard let family = type.family else {
                return Self.make(
                    type.type, type, Int64(place) + 1, Int64(clamping: transaction.number), identifier, change)
            }
            let ofClass = classes.place(of: key, entity, family.hierarchy)
            return Self.make(
                family.classes[ofClass].type, family.classes[ofClass], Int64(place) + 1,
                Int64(clamping: transaction.number), identifier, change.of(family, ofClass))
        }
    }

    /// The objects that a transaction has changed, each once.
    ///
    /// - Throws: As `check`.
    func changedObjects(of transaction: StoredTransaction) throws -> [ChangedObject] {
        var order: [StoredKey] = []
        var slots: [StoredKey: Set<Int>?] = [:]
        try forEachChange(of: transaction) { key, change in
            guard let known = slots[key] else {
                order.append(key)
                if case .updated(let some) = change { slots[key] = some } else { slots[key] = .some(nil) }
                return
            }
            guard case .updated(let others) = change else {
                slots[key] = .some(nil)
                return
            }
            if let known { slots[key] = known.union(others) }
        }
        return order.map { ChangedObject(key: $0, slots: slots[$0] ?? nil) }
    }

    /// Checks all data that `changes` will need.
    ///
    /// - Throws: `LogError` of code `damaged` for data that does not fit the schema.
    func check(_ transaction: StoredTransaction) throws { try forEachChange(of: transaction) { _, _ in } }

    private func forEachChange(of transaction: StoredTransaction, _ body: (StoredKey, Met) -> Void) throws {
        try transaction.forEachChange { change in
            guard let ordinal = ordinals[change.table] else { return }
            let entity = store.storage.entities[ordinal]
            let met: Met
            switch change.operation {
            case .insert: met = .inserted
            case .update(let mask): met = .updated(try slots(mask, change.layout, entity))
            case .delete: met = .deleted(try change.tombstone.map { try values($0, change.layout, entity) } ?? [])
            }
            for number in change.numbers { body(StoredKey(ordinal: ordinal, number: number), met) }
        }
    }

    private static func make<Model: PersistentModel>(
        _ model: Model.Type, _ type: ModelType, _ place: Int64, _ transaction: Int64,
        _ identifier: PersistentIdentifier, _ change: Met
    ) -> HistoryChange {
        switch change {
        case .inserted:
            return .insert(
                DefaultHistoryInsert<Model>(
                    changeIdentifier: place, transactionIdentifier: transaction,
                    changedPersistentIdentifier: identifier))
        case .updated(let slots):
            let sorted = slots.sorted()
            return .update(
                DefaultHistoryUpdate<Model>(
                    changeIdentifier: place, transactionIdentifier: transaction,
                    changedPersistentIdentifier: identifier,
                    updatedAttributes: type.keyPaths(of: Model.self, sorted),
                    updatedPropertyNames: sorted.filter { $0 < type.properties.count }.map { type.properties[$0].name })
            )
        case .deleted(let values):
            return .delete(
                DefaultHistoryDelete<Model>(
                    changeIdentifier: place, transactionIdentifier: transaction,
                    changedPersistentIdentifier: identifier, tombstone: HistoryTombstone(values: values)))
        }
    }

    // MARK: Slots

    private func layout(_ number: UInt16, _ entity: EntityStorage) throws(StoreError) -> RowLayout {
        if number == entity.layout.number { return entity.layout }
        if let layout = store.storage.layouts[number] { return layout }
        throw StoreError(
            .outdated,
            "The store has been migrated since this container was made, and its history has changes of \(entity.name) since: make a container with the new schema to read it."
        )
    }

    /// The current slots of those that a mask names in a layout.
    private func slots(_ mask: UInt64, _ number: UInt16, _ entity: EntityStorage) throws(StoreError) -> Set<Int> {
        let layout = try layout(number, entity)
        var slots: Set<Int> = []
        for slot in layout.columns.indices where mask & SlotMask.bit(slot) != 0 {
            if let own = entity.layout.slot(ofColumn: layout.columns[slot].number) { slots.insert(own) }
        }
        return slots
    }

    private func values(
        _ tombstone: (slots: [Int], row: UnsafeRawBufferPointer), _ number: UInt16, _ entity: EntityStorage
    ) throws(StoreError) -> [(slot: Int, name: String, value: any Sendable)] {
        let layout = try layout(number, entity)
        guard let table = store.table(forLayout: number, of: entity),
            let row = RowView(checking: tombstone.row, table: table, hasExtension: false)
        else {
            throw StoreError(.malformed, "The history has a tombstone of \(entity.name) that is no row of its layout.")
        }
        let properties = store.storage.schema.entities[entity.ordinal].properties
        var values: [(slot: Int, name: String, value: any Sendable)] = []
        for slot in tombstone.slots where slot < layout.columns.count {
            guard let own = entity.layout.slot(ofColumn: layout.columns[slot].number), own < properties.count,
                let attribute = properties[own].asAttribute, let value = row.sendableValue(own, attribute)
            else { continue }
            values.append((own, attribute.name, value))
        }
        return values
    }
}

extension ModelType {
    fileprivate func keyPaths<Model: PersistentModel>(
        of model: Model.Type, _ slots: [Int]
    ) -> [any PartialKeyPath<Model> & Sendable] {
        guard !isDynamic else { return [] }
        let paths = Dictionary(self.slots.map { ($0.value, $0.key) }) { first, _ in first }
        return slots.compactMap { slot in
            guard let path = paths[slot] as? PartialKeyPath<Model> else { return nil }
            // Safe because a key path of a stored property captures nothing, and `Sendable` has no witness.
            return unsafeBitCast(path, to: (any PartialKeyPath<Model> & Sendable).self)
        }
    }
}

extension RowView {
    /// The value of an attribute in the row; nil for nil.
    fileprivate func sendableValue(_ slot: Int, _ attribute: Schema.Attribute) -> (any Sendable)? {
        if isNil(slot) { return nil }
        switch attribute.kind {
        case .bool: return bool(slot)
        case .int8: return Int8(truncatingIfNeeded: int64(slot))
        case .int16: return Int16(truncatingIfNeeded: int64(slot))
        case .int32: return Int32(truncatingIfNeeded: int64(slot))
        case .int64: return attribute.valueTypeName == "Int64" ? int64(slot) : Int(truncatingIfNeeded: int64(slot))
        case .uint8: return UInt8(truncatingIfNeeded: int64(slot))
        case .uint16: return UInt16(truncatingIfNeeded: int64(slot))
        case .uint32: return UInt32(truncatingIfNeeded: int64(slot))
        case .uint64: return attribute.valueTypeName == "UInt64" ? uint64(slot) : UInt(truncatingIfNeeded: uint64(slot))
        case .float: return float(slot)
        case .double: return double(slot)
        case .date: return Date(timeIntervalSinceReferenceDate: date(slot))
        case .uuid: return UUID(storedWords: uuid(slot))
        case .decimal: return Decimal(decimal(slot))
        case .string: return string(slot)
        case .url: return URL(string: string(slot))
        case .data: return Data(variable(slot))
        case .codable: return CodableValue(variable(slot))
        }
    }
}
