internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A position in the order of a query: after an object with some sort keys.
struct PageStart {
    /// Before all objects.
    static let beginning = PageStart(number: 0, keys: [])

    let number: RecordID
    /// A key for each slot of the order; none at the beginning.
    let keys: [[UInt8]]

    var isBeginning: Bool { number == 0 }

    /// Whether a row with a sort key comes after it; `key` has the keys of all slots, descending ones complemented.
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
    /// The properties of the order, as a cursor names them; nil if rows do not have the order.
    func orderNames(_ context: ContextCore) -> [String]? {
        let properties = context.store.storage.schema.entities[entity.ordinal].properties
        return order?.map { ($0.isAscending ? "+" : "-") + properties[$0.slot].name }
    }

    /// The position that a cursor names.
    ///
    /// - Throws: `unsupportedSortDescriptor` for a cursor of another fetch; the explanation names the difference.
    func start(after cursor: FetchCursor?, _ context: ContextCore) throws -> PageStart {
        guard let names = orderNames(context) else {
            throw SwiftDataError.unsupportedSortDescriptor.explained(
                "Pages need an order that stored rows have: sort by scalar attributes, text by .lexical.")
        }
        guard let cursor else { return .beginning }
        let keys = cursor.keys.map { [UInt8]($0) }
        if let mismatch = mismatch(of: cursor, keys, names, context) {
            throw SwiftDataError.unsupportedSortDescriptor.explained(
                "The cursor \(mismatch). Begin with the first page.")
        }
        return PageStart(number: cursor.identifier.number, keys: keys)
    }

    /// Why a cursor does not belong to this fetch; nil if it does.
    ///
    /// It may come from a client, so it is untrusted.
    private func mismatch(
        of cursor: FetchCursor, _ keys: [[UInt8]], _ names: [String], _ context: ContextCore
    ) -> String? {
        let identifier = cursor.identifier
        if identifier.isTemporary { return "names an object that was never saved" }
        guard identifier.storeID == context.store.log.storeID else { return "is of another store" }
        guard context.homes.isName(identifier.entityName, of: entity.name) else {
            return "is of entity \(identifier.entityName.excerpt), and the fetch of \(entity.name)"
        }
        guard (1...Limits.recordIDMax).contains(identifier.number) else {
            return "names object \(identifier.number), a number that no store has"
        }
        guard cursor.order == names else {
            return "has the order \(cursor.order.joined(separator: ", ").excerpt), and the fetch \(names)"
        }
        guard keys.count == names.count else {
            return "has \(keys.count) sort keys for an order of \(names.count) properties"
        }
        for (place, (key, column)) in zip(keys, order ?? []).enumerated()
        where !KeyShape.isKey(key, of: entity.layout.columns[column.slot].kind) {
            return "has a sort key that no value of \(entity.name).\(names[place].dropFirst()) has"
        }
        return nil
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
