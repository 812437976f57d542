internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Counts objects that have values of their own in a store.
struct StoredValueCount {
    let store: RowStore
    let snapshot: Snapshot

    private static let readAheadByteCount = 128 << 10

    func objects(of entity: EntityStorage) -> Int { snapshot.recordCount(of: entity.table) }

    /// Counts the objects with each of some values: not nil, no default that the row lacks, no reference to a missing
    /// object.
    ///
    /// - Complexity: O(n) for n rows, and an index look-up for each row for relationships that no row stores; one large
    ///   composite value at a time is in memory.
    func objects(
        with values: [StoredValueName], of storage: EntityStorage, _ entity: Schema.Entity
    ) throws -> [Int] {
        let slots = values.map { value in entity.properties.firstIndex { $0.name == value.property } }
        var counts = values.map { _ in 0 }
        try snapshot.scan(
            storage.table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
        ) { records in
            for record in records {
                let row = try store.view(record, of: storage)
                for (place, slot) in slots.enumerated() {
                    guard let slot else { continue }
                    if try has(values[place], slot, row, record.id, storage) { counts[place] += 1 }
                }
            }
            return true
        }
        return counts
    }

    private func has(
        _ value: StoredValueName, _ slot: Int, _ row: RowView, _ id: RecordID, _ entity: EntityStorage
    ) throws -> Bool {
        switch entity.slots[slot] {
        case .attribute:
            guard !row.isNil(slot), !row.isDefault(slot) else { return false }
            return try value.members.isEmpty || hasMember(value.members, slot, row)
        case .toOne(let relationship):
            let target = row.toOne(slot)
            let table = store.storage.entities[relationship.destination].table
            return try target != 0 && !snapshot.location(of: target, in: table).isAbsent
        case .toMany(let relationship):
            var hasMember = false
            try MemberKey.withPrefix(owner: id) { prefix in
                try snapshot.forEachEntry(in: relationship.members.index, prefix: prefix) { _, _ in
                    hasMember = true
                    return false
                }
            }
            return hasMember
        }
    }

    private func hasMember(_ path: [String], _ slot: Int, _ row: RowView) throws -> Bool {
        guard let reference = row.blobReference(slot) else { return Self.hasMember(path, row.variable(slot)) }
        let byteCount = try Int(snapshot.blobByteCount(reference.identifier))
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
        defer { bytes.deallocate() }
        try snapshot.readBlob(reference.identifier, range: 0..<UInt64(byteCount), into: bytes)
        return Self.hasMember(path, UnsafeRawBufferPointer(bytes))
    }

    private static func hasMember(_ path: [String], _ bytes: UnsafeRawBufferPointer) -> Bool {
        var view = NestedView(bytes)
        for name in path { view = view?.member(name) }
        return view?.isNil == false
    }
}
