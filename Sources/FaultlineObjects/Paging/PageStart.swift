internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A place in the order of a query: behind an object with some sort keys.
struct PageStart {
    /// In front of all objects.
    static let beginning = PageStart(number: 0, keys: [])

    let number: RecordID
    /// A key for each slot of the order; none at the beginning.
    let keys: [[UInt8]]

    var isBeginning: Bool { number == 0 }

    /// Whether a row with a sort key comes behind; `key` is that of all slots, descending ones complemented.
    func isBefore(_ key: [UInt8], _ number: RecordID, _ own: [UInt8]) -> Bool {
        if isBeginning { return true }
        let order = key.withUnsafeBytes { key in own.withUnsafeBytes { KeyOrder.compare(key, $0) } }
        return order > 0 || order == 0 && number > self.number
    }

    /// The keys one after the other, descending ones complemented.
    func joined(_ order: [(slot: Int, isAscending: Bool)]) -> [UInt8] {
        zip(keys, order).flatMap { key, order in order.isAscending ? key : key.map { ~$0 } }
    }
}

extension Query {
    /// The properties of the order, as a cursor names them; nil where rows do not have the order.
    func orderNames(_ context: ContextCore) -> [String]? {
        let properties = context.store.storage.schema.entities[entity.ordinal].properties
        return order?.map { ($0.isAscending ? "+" : "-") + properties[$0.slot].name }
    }

    /// The place that a cursor names.
    ///
    /// - Throws: `unsupportedSortDescriptor` for a cursor of another store, entity or order.
    func start(after cursor: FetchCursor?, _ context: ContextCore) throws -> PageStart {
        guard let names = orderNames(context) else {
            throw SwiftDataError.unsupportedSortDescriptor.explained(
                "Pages need an order that stored rows have: sort by scalar attributes, text by .lexical.")
        }
        guard let cursor else { return .beginning }
        let identifier = cursor.identifier
        guard identifier.storeID == context.store.log.storeID, identifier.entityName == entity.name,
            cursor.order == names, cursor.keys.count == names.count, identifier.number != 0
        else {
            throw SwiftDataError.unsupportedSortDescriptor.explained(
                "The cursor is of \(identifier.entityName) by \(cursor.order), and the fetch of \(entity.name) by \(names), or it is of another store. Begin with the first page."
            )
        }
        return PageStart(number: identifier.number, keys: cursor.keys.map { Array($0) })
    }

    /// The key of each slot of the order in a row.
    func keys(of view: RowView, _ load: (BlobReference) throws -> [UInt8]) rethrows -> [[UInt8]] {
        try (order ?? []).map { slot, _ in
            var key = KeyWriter()
            if !key.append(row: view, slot: slot), let reference = view.blobReference(slot) {
                try load(reference).withUnsafeBytes { key.appendText($0, flags: view.variableFlags(slot)) }
            }
            return key.withBytes { Array($0) }
        }
    }
}
