internal import FaultlineLog
internal import FaultlineStore

/// Counts the objects that a search has found by the values of an attribute.
struct SearchFacets<T: PersistentModel> {
    private let context: ContextCore
    private let query: Query<T>
    private let found: FoundObjects<T>

    init(_ context: ContextCore, _ query: Query<T>, _ found: FoundObjects<T>) {
        self.context = context
        self.query = query
        self.found = found
    }

    /// Counts some of the objects found.
    ///
    /// - Parameters:
    ///   - places: Their places in the findings.
    ///   - keyPath: The attribute.
    /// - Returns: The values, those of most objects first.
    /// - Throws: `SwiftDataError.unsupportedKeyPath` for a property without an order; errors of reading.
    func count(_ places: [Int], _ keyPath: PartialKeyPath<T>) throws -> [SearchFacet] {
        let entity = query.entity
        guard let slot = query.home.rowSlots[keyPath], entity.slots[slot] == .attribute,
            entity.layout.columns[slot].kind.canBeIndexed, !entity.ephemeralSlots.contains(slot)
        else {
            throw SwiftDataError.unsupportedKeyPath.explained(
                "\(keyPath) is no stored attribute of \(entity.name) that has an order. Count by another one.")
        }
        var groups: [[UInt8]: (count: Int, first: Int)] = [:]
        var key = KeyWriter()
        for place in places {
            key.removeAll()
            try append(slot, of: place, to: &key)
            groups[key.withBytes { Array($0) }, default: (0, place)].count += 1
        }
        let ordered = groups.sorted { left, right in
            left.value.count != right.value.count
                ? left.value.count > right.value.count : left.key.lexicographicallyPrecedes(right.key)
        }
        return ordered.map { group in
            let object = found.object(group.value.first, query.home, context)
            let value = TrackingWord.withoutTracking { object[keyPath: keyPath] as Any? }
            return SearchFacet(value: value as? AnyHashable, count: group.value.count)
        }
    }

    private func append(_ slot: Int, of place: Int, to key: inout KeyWriter) throws {
        let object = found.object(place, query.home, context)
        let core = object._$coreAddress()
        if let draft = core.pointee.draft {
            if !key.append(draft: draft, slot: slot), let reference = draft.blobReference(slot) {
                try append(reference, to: &key)
            }
        } else if let row = core.pointee.loadedRow() {
            if !key.append(row: row, slot: slot), let reference = row.blobReference(slot) {
                try append(reference, to: &key)
            }
        }
    }

    private func append(_ reference: BlobReference, to key: inout KeyWriter) throws {
        let bytes = try RowCache(context).blobBytes(reference, context.snapshot)
        bytes.withUnsafeBytes { key.appendData($0) }
    }
}
