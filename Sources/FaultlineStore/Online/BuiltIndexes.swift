package import FaultlineLog

/// The indexes of one entity that a migration builds over existing rows.
package struct BuiltIndexes: Sendable {
    /// The rows, under the schema of the migration.
    package let store: RowStore
    package let entity: EntityStorage
    private let numbers: Set<UInt32>
    private let unique: [UniqueIndex]
    private let members: [MemberIndex]
    private let texts: [TextIndex]
    private let hasSecondary: Bool

    /// - Parameters:
    ///   - store: The rows, under the schema of the migration.
    ///   - entity: The entity.
    ///   - numbers: The numbers of its new indexes.
    package init(_ store: RowStore, _ entity: EntityStorage, _ numbers: Set<UInt32>) {
        self.store = store
        self.entity = entity
        self.numbers = numbers
        unique = entity.uniqueIndexes.filter { numbers.contains($0.definition.id.rawValue) }
        texts = entity.textIndexes.filter { numbers.contains($0.definition.id.rawValue) }
        members = entity.memberIndexes.filter { numbers.contains($0.definition.id.rawValue) }
        hasSecondary = entity.secondaryIndexes.contains { numbers.contains($0.definition.id.rawValue) }
    }

    /// Whether all their numbers are below one.
    func areNumbered(below next: UInt32) -> Bool { numbers.allSatisfy { $0 < next } }

    /// Calls `body` with each key of a row in these indexes.
    ///
    /// - Parameters:
    ///   - view: The row, by the slots of the entity.
    ///   - id: The object.
    ///   - refuse: Gets the error of a value that cannot be unique; if it returns, the row has no key in that index.
    ///   - body: Gets index and key.
    /// - Throws: The errors of the closures.
    package func forEachKey(
        of view: borrowing RowView, _ id: RecordID, refuse: (StoreError) throws -> Void,
        _ body: (IndexDefinition, [UInt8]) throws -> Void
    ) throws {
        for index in unique {
            var key: [UInt8]?
            do throws(StoreError) { key = try RowKeys.key(of: view, id, entity, index) } catch { try refuse(error) }
            if let key { try body(index.definition, key) }
        }
        if hasSecondary {
            for (index, key) in zip(entity.secondaryIndexes, store.secondaryKeys(of: view, entity))
            where numbers.contains(index.definition.id.rawValue) {
                try body(index.definition, key)
            }
        }
        for index in texts {
            try store.textKeys(of: view, id, entity, index).forEach { try body(index.definition, Array($0)) }
        }
        for index in members {
            let owner = view.toOne(index.slot)
            guard owner != 0 else { continue }
            let order = view.orderKey(index.slot) ?? MemberKey.defaultOrder(of: id)
            try MemberKey.with(owner: owner, order: order) { try body(index.definition, Array($0)) }
        }
    }
}
