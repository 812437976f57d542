package import FaultlineLog
internal import FaultlineModel
package import FaultlineStore

/// Makes the rows of new objects from the rows of old ones, without an object on either side.
///
/// Attributes are copied, also to other names and wider types; the others have constants or their defaults. References
/// lead to the numbers that they led to. Rows are kept until they are written in one transaction. It belongs to the
/// thread of its contexts.
package final class RowConversion {
    /// An attribute whose values are copied.
    package struct Copy {
        /// The value of a new row where the old one has none.
        package enum Missing { case none, standard, refused }

        let old: Int
        let new: Int
        let missing: Missing

        package init(from old: Int, to new: Int, missing: Missing) {
            self.old = old
            self.new = new
            self.missing = missing
        }
    }

    /// A to-one relationship whose targets keep their numbers.
    package struct Reference {
        let old: Int
        let new: Int
        /// The entity of the old targets: a reference to one that is not stored is left out.
        let targets: EntityStorage

        package init(from old: Int, to new: Int, targets: EntityStorage) {
            self.old = old
            self.new = new
            self.targets = targets
        }
    }

    /// An attribute, with the facts about its columns.
    private struct Column {
        let copy: Copy
        let isCodable: Bool
        let isText: Bool
        /// Whether unique keys are made of the value, which must then be in the row.
        let isUnique: Bool
    }

    private struct Row {
        let number: RecordID
        var draft: Draft
    }

    package let entityName: String
    private let source: ContextCore
    private let target: ContextCore
    private let entity: EntityStorage
    private let columns: [Column]
    private let references: [Reference]
    /// For each reference: whether it has a position in a collection.
    private let keepsPlace: [Bool]
    private var storedTargets: [StoredTargets]
    /// Defaults and constants.
    private var template: Draft
    private var rows: [Row] = []
    /// Bytes of the rows that are not written yet.
    package private(set) var byteCount = 0
    /// Rows that are not written yet.
    package var count: Int { rows.count }

    /// Prepares the conversion; nil if the rows cannot hold the constants, or the types that are copied.
    ///
    /// - Parameters:
    ///   - entityName: The entity that `target` makes.
    ///   - target: Writes the new rows.
    ///   - oldName: The entity that `source` reads.
    ///   - source: Reads the old rows.
    ///   - copies: The attributes that are copied.
    ///   - constants: Values of other attributes, by slot of the new entity.
    ///   - references: The to-one relationships.
    package init?(
        _ entityName: String, of target: ContextCore, from oldName: String, of source: ContextCore,
        copies: [Copy], constants: [(slot: Int, value: Any?)], references: [Reference]
    ) {
        guard let type = target.home(named: entityName)?.type, let entity = target.home(named: entityName)?.entity,
            let old = source.home(named: oldName)?.entity
        else { return nil }
        var columns: [Column] = []
        for copy in copies {
            let (from, to) = (old.layout.columns[copy.old], entity.layout.columns[copy.new])
            guard from.kind.isReadable(as: to.kind), !to.kind.isInteger || from.width <= to.width else { return nil }
            columns.append(
                Column(
                    copy: copy, isCodable: to.kind == .attribute(.codable),
                    isText: to.kind.isText,
                    isUnique: entity.uniqueSlots.contains(copy.new)))
        }
        let changes = constants.map { constant in try? SlotChange(constant.slot, of: type, to: constant.value) }
        guard changes.allSatisfy({ $0 != nil }) else { return nil }
        var template = DefaultValues.draft(of: type.properties, layout: entity.layout)
        for case let change? in changes { change.apply(to: &template) }
        self.entityName = entityName
        self.source = source
        self.target = target
        self.entity = entity
        self.columns = columns
        self.references = references
        keepsPlace = references.map { entity.hasPosition($0.new) }
        storedTargets = references.map { _ in StoredTargets() }
        self.template = template
    }

    deinit {
        removeAll()
        template.destroy()
    }

    // MARK: One row

    /// Makes the row of a new object that has the number of the old one.
    ///
    /// - Returns: False if an attribute cannot have its value: nothing is added.
    /// - Throws: `StoreError` if a large value, or the place of a target, cannot be read.
    package func append(_ row: RowView, _ number: RecordID) throws -> Bool {
        var draft = template.copy()
        do {
            guard try copyAttributes(of: row, to: &draft) else {
                draft.destroy()
                return false
            }
            try copyReferences(of: row, to: draft)
        } catch {
            draft.destroy()
            throw error
        }
        let draftByteCount = draft.memoryByteCount
        byteCount += draftByteCount + MemoryLayout<Row>.stride
        rows.append(Row(number: number, draft: draft))
        // All later rows get the room, which one long row does not show to be needed.
        if rows.count >= 8, draftByteCount * rows.count <= 2 * byteCount { template.reserveRoom(of: draft) }
        return true
    }

    private func copyAttributes(of row: RowView, to draft: inout Draft) throws -> Bool {
        for column in columns {
            let (old, new) = (column.copy.old, column.copy.new)
            // No bytes are the encoding of no value.
            if row.isNil(old) || column.isCodable && row.variable(old).isEmpty {
                switch column.copy.missing {
                case .none: draft.setNil(new)
                case .standard: break
                case .refused: return false
                }
            } else if column.isUnique, entity.layout.columns[new].isVariable, let blob = row.blobReference(old) {
                let bytes = try RowCache(source).blobBytes(blob, source.snapshot)
                bytes.withUnsafeBytes { bytes in
                    if column.isText { draft.setUTF8(new, bytes) } else { draft.setBytes(new, bytes) }
                }
            } else {
                draft.copyValue(of: row, slot: old, into: new)
            }
        }
        return true
    }

    private func copyReferences(of row: RowView, to draft: Draft) throws {
        for (place, reference) in references.enumerated() {
            let number = row.toOne(reference.old)
            guard number != 0, try storedTargets[place].has(number, reference.targets, in: source.snapshot) else {
                continue
            }
            draft.setToOne(reference.new, number)
            if keepsPlace[place], let key = row.orderKey(reference.old) { draft.setOrderKey(reference.new, key) }
        }
    }

    // MARK: The batch

    /// Writes the rows with their keys, in the order in which they were made.
    ///
    /// - Throws: `duplicate` if unique values belong to another object; `tooLarge` for a row that does not fit into a
    ///   record; errors of the log.
    package func write(_ writer: inout RowWriter, in transaction: inout Transaction) throws {
        var blobs = SavedBlobs()
        let byteCountBefore = writer.blobByteCount
        for place in rows.indices {
            let number = rows[place].number
            try writer.takeKeys(rows[place].draft, id: number, entity, in: &transaction)
            // In place: a setter may move the draft, and an error must leave the one that is to be destroyed.
            try takeOverBlobs(&rows[place].draft, number, &blobs, in: &transaction)
            try writer.insert(rows[place].draft, id: number, entity, in: &transaction)
        }
        blobs.byteCountWritten += writer.blobByteCount - byteCountBefore
        target.tally.add(blobs)
    }

    /// Moves large values to the new row, or copies those that another new object has: a blob has one owner.
    private func takeOverBlobs(
        _ draft: inout Draft, _ number: RecordID, _ blobs: inout SavedBlobs, in transaction: inout Transaction
    ) throws {
        for slot in entity.variableSlots {
            guard let reference = draft.blobReference(slot) else { continue }
            // It comes from a row, and counts must not overflow.
            let byteCount = Int(min(reference.byteCount, Limits.blobByteCountMax))
            if let mayMoveBlob = target.rules.mayMoveBlob, mayMoveBlob(reference.identifier) {
                blobs.byteCountMoved += byteCount
                continue
            }
            blobs.byteCountWritten += byteCount
            let owner = BlobOwner(table: entity.table, slot: UInt16(truncatingIfNeeded: slot), id: number)
            let own = try transaction.copyBlob(reference.identifier, owner: owner)
            draft.setBlobReference(slot, identifier: own, byteCount: reference.byteCount)
        }
    }

    /// Calls `body` with the large values that the row which was added last would take over.
    package func forEachBlobOfLast(_ body: (UInt64) -> Void) {
        guard let last = rows.last else { return }
        for slot in entity.variableSlots { if let blob = last.draft.blobReference(slot) { body(blob.identifier) } }
    }

    /// Drops the rows, because they were written or are not wanted.
    package func removeAll() {
        for row in rows { row.draft.destroy() }
        rows.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
