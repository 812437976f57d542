import FaultlineLog
import FaultlineModel
package import FaultlineStore

/// Clears to-one references to deleted objects, and removes links that lost one of their objects.
///
/// Readers see no difference: both already read as nil, or as no member.
///
/// Uses bounded memory, and one transaction for some thousands of references. It may be interrupted at any time, and
/// keeps the work done. It stops with an error at the first damaged row.
package struct ReferenceRepair {
    /// References of one property to deleted objects.
    package struct Found: Hashable, Sendable {
        package let entityName: String
        package let propertyName: String
        /// Whether the property must refer to an object.
        package let isRequired: Bool
        /// Whether they are links of a collection.
        package let isLink: Bool
        package var count = 0
    }

    /// The treatment of required references: an object without one cannot be saved.
    package enum Required: String, Sendable, CaseIterable {
        /// They stay as they are.
        case leave
        /// They are cleared like the others.
        case clear
    }

    /// The number of references cleared in one transaction.
    private static let batchCount = 4_096

    private let rows: RowStore

    /// Prepares a repair of a store, which must be open for writing unless only `look` is called.
    package init(_ rows: RowStore) { self.rows = rows }

    /// Examines all references; nothing is written.
    ///
    /// - Parameter progress: Called with the number of rows examined.
    /// - Returns: The references that a repair would clear, by property, in the order of the schema.
    /// - Throws: `StoreError` or `LogError` if the store cannot be read.
    package func look(progress: (_ rowCount: Int) -> Void = { _ in }) throws -> [Found] {
        var found: [Found] = []
        var rowCount = 0
        for entity in rows.storage.entities where !entity.toOneSlots.isEmpty {
            var counts: [Int: Int] = [:]
            try forEachReference(of: entity, from: 1) {
                counts[$0.slot, default: 0] += 1
                return true
            } looked: {
                rowCount += $0
                progress(rowCount)
            }
            for (slot, count) in counts.sorted(by: { $0.key < $1.key }) {
                found.append(self.found(entity, slot, isLink: false, count))
            }
        }
        for links in links {
            var count = 0
            try forEachLink(of: links, from: 1) { _ in
                count += 1
                return true
            } looked: {
                rowCount += $0
                progress(rowCount)
            }
            if count > 0 { found.append(self.found(links.entity, links.slot, isLink: true, count)) }
        }
        return found
    }

    /// Clears the references that `look` finds.
    ///
    /// - Parameters:
    ///   - required: The treatment of required references.
    ///   - progress: Called with the number of rows examined.
    /// - Returns: The cleared references, by property, in the order of the schema.
    /// - Throws: `StoreError` or `LogError` if the store cannot be read or written, or is being migrated.
    package func run(required: Required, progress: (_ rowCount: Int) -> Void = { _ in }) throws -> [Found] {
        var cleared: [Found] = []
        var rowCount = 0
        for entity in rows.storage.entities where !entity.toOneSlots.isEmpty {
            var counts: [Int: Int] = [:]
            try inBatches { (first, batch: inout [Reference]) in
                try forEachReference(of: entity, from: first) { reference in
                    if required == .clear || !entity.requiredSlots.contains(reference.slot) { batch.append(reference) }
                    return batch.count < Self.batchCount
                } looked: {
                    rowCount += $0
                    progress(rowCount)
                }
            } write: { batch in
                for reference in try clear(batch, entity) { counts[reference.slot, default: 0] += 1 }
            } place: {
                $0.id
            }
            for (slot, count) in counts.sorted(by: { $0.key < $1.key }) {
                cleared.append(found(entity, slot, isLink: false, count))
            }
        }
        for links in links {
            var count = 0
            try inBatches { (first, batch: inout [RecordID]) in
                try forEachLink(of: links, from: first) { link in
                    batch.append(link)
                    return batch.count < Self.batchCount
                } looked: {
                    rowCount += $0
                    progress(rowCount)
                }
            } write: { batch in
                try unlink(batch, links)
                count += batch.count
            } place: {
                $0
            }
            if count > 0 { cleared.append(found(links.entity, links.slot, isLink: true, count)) }
        }
        return cleared
    }

    /// Collects batches and writes each, until one is not full.
    private func inBatches<Item>(
        _ gather: (_ first: RecordID, _ batch: inout [Item]) throws -> Void, write: ([Item]) throws -> Void,
        place: (Item) -> RecordID
    ) throws {
        var first: RecordID = 1
        while true {
            var batch: [Item] = []
            try gather(first, &batch)
            if !batch.isEmpty { try write(batch) }
            guard batch.count >= Self.batchCount, let last = batch.last else { return }
            // Its row may have another reference.
            first = place(last)
        }
    }

    // MARK: References

    private struct Reference {
        let id: RecordID
        let slot: Int
        let target: RecordID
    }

    /// Calls `body` with each reference of an entity to a deleted object, until it returns false.
    private func forEachReference(
        of entity: EntityStorage, from first: RecordID, _ body: (Reference) -> Bool, looked: (Int) -> Void
    ) throws {
        let snapshot = rows.log.snapshot()
        try snapshot.scan(entity.table, from: first, through: .max, readAhead: 256 << 10) { records in
            for record in records {
                let view = try rows.view(record, of: entity)
                for slot in entity.toOneSlots where view.toOne(slot) != 0 {
                    let target = view.toOne(slot)
                    guard let table = table(of: entity, slot),
                        try snapshot.location(of: target, in: table).isAbsent
                    else { continue }
                    if !body(Reference(id: record.id, slot: slot, target: target)) { return false }
                }
            }
            looked(records.count)
            return true
        }
    }

    private func table(of entity: EntityStorage, _ slot: Int) -> TableID? {
        guard case .toOne(let relationship) = entity.slots[slot] else { return nil }
        return rows.storage.entities[relationship.destination].table
    }

    private func clear(_ batch: [Reference], _ entity: EntityStorage) throws -> [Reference] {
        try rows.log.write(author: "repair") { transaction in
            try rows.checkInForce(in: transaction)
            var writer = RowWriter(rows)
            var cleared: [Reference] = []
            for reference in batch {
                guard let table = table(of: entity, reference.slot),
                    try transaction.location(of: reference.target, in: table).isAbsent,
                    try writer.clear(
                        reference.slot, leadingTo: reference.target, id: reference.id, entity, in: &transaction)
                else { continue }
                cleared.append(reference)
            }
            return cleared
        }.value
    }

    // MARK: Links

    /// A link table, the tables of its links' objects, and the property that shows them.
    private struct Links {
        let side: LinkSide
        let left: TableID
        let right: TableID
        let entity: EntityStorage
        let slot: Int
    }

    /// Each link table once.
    private var links: [Links] {
        var known: Set<TableID> = []
        var links: [Links] = []
        for entity in rows.storage.entities {
            for (slot, storage) in entity.slots.enumerated() {
                guard case .toMany(let relationship) = storage, case .link(let side, _) = relationship.members,
                    known.insert(side.table).inserted
                else { continue }
                let destination = rows.storage.entities[relationship.destination].table
                links.append(
                    Links(
                        side: side, left: side.isLeft ? entity.table : destination,
                        right: side.isLeft ? destination : entity.table, entity: entity, slot: slot))
            }
        }
        return links
    }

    /// Calls `body` with each link that has lost one of its objects, until it returns false.
    private func forEachLink(
        of links: Links, from first: RecordID, _ body: (RecordID) -> Bool, looked: (Int) -> Void
    ) throws {
        let snapshot = rows.log.snapshot()
        try snapshot.scan(links.side.table, from: first, through: .max, readAhead: 256 << 10) { records in
            for record in records {
                guard let link = LinkRow.read(record.row) else {
                    throw StoreError(.malformed, "Link \(record.id) has a row of another size. Run `faultline verify`.")
                }
                let isWhole =
                    try !snapshot.location(of: link.left, in: links.left).isAbsent
                    && !snapshot.location(of: link.right, in: links.right).isAbsent
                if !isWhole, !body(record.id) { return false }
            }
            looked(records.count)
            return true
        }
    }

    private func unlink(_ batch: [RecordID], _ links: Links) throws {
        _ = try rows.log.write(author: "repair") { transaction in
            try rows.checkInForce(in: transaction)
            var writer = RowWriter(rows)
            for link in batch { try writer.unlink(link, links.side, in: &transaction) }
        }
    }

    private func found(_ entity: EntityStorage, _ slot: Int, isLink: Bool, _ count: Int) -> Found {
        Found(
            entityName: entity.name, propertyName: rows.storage.schema.entities[entity.ordinal].properties[slot].name,
            isRequired: entity.requiredSlots.contains(slot), isLink: isLink, count: count)
    }
}
