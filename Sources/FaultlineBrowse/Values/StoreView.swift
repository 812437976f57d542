import Faultline
import FaultlineCommands
import FaultlineLog
import FaultlineModel
import FaultlineObjects
import FaultlineStore

/// One state of the store, for one page: its objects by entity and number, and their values.
struct StoreView {
    let rows: RowStore
    let snapshot: Snapshot

    init(_ container: ModelContainer) {
        rows = container.rowStore
        snapshot = rows.log.snapshot()
    }

    var schema: Schema { rows.storage.schema }

    /// The entity with a name.
    ///
    /// - Throws: An answer of status 404 if there is none.
    func entity(_ name: String) throws(PageFailure) -> EntityView {
        guard let storage = rows.storage.entities.first(where: { $0.name == name }),
            let entity = schema.entitiesByName[name]
        else { throw PageFailure(404, "The store has no entity \(name).") }
        return EntityView(storage: storage, properties: entity.properties)
    }

    /// The name of the entity at a place of the schema.
    func entityName(_ ordinal: Int) -> String { rows.storage.entities[ordinal].name }

    /// Reads the row of an object.
    ///
    /// - Returns: Nil if there is no such object; else the result of `body`.
    /// - Throws: If the record does not verify, or the disk does not answer.
    func row<R>(_ id: RecordID, _ entity: EntityView, _ body: (RowView) throws -> R) throws -> R? {
        guard id > 0, id <= Limits.recordIDMax else { return nil }
        var buffer = RecordBuffer()
        guard let record = try snapshot.read(id, in: entity.storage.table, into: &buffer) else { return nil }
        return try body(try rows.view(record, of: entity.storage))
    }

    // MARK: Values

    /// The value of a property in a row.
    func value(_ slot: Int, _ row: RowView, _ entity: EntityView) -> ShownValue {
        let kind = entity.storage.layout.columns[slot].kind
        if kind == .toMany { return .members }
        if row.isNil(slot) { return .none }
        switch kind {
        case .toMany: return .members
        case .toOne:
            let target = row.toOne(slot)
            guard target > 0, case .toOne(let relationship) = entity.storage.slots[slot] else { return .none }
            let name = entityName(relationship.destination)
            return .reference(entity: name, id: target, title: title(of: target, relationship.destination))
        case .link: return .none
        case .attribute(let attribute): return value(slot, row, attribute)
        }
    }

    private func value(_ slot: Int, _ row: RowView, _ kind: AttributeKind) -> ShownValue {
        if ColumnKind.attribute(kind).isVariable, let blob = row.blobReference(slot) {
            guard kind == .data else { return .longText(blob.byteCount) }
            do {
                return .bytes(blob.byteCount, MediaType(try bytes(of: blob, MediaType.byteCount)))
            } catch { return .unreadable(CommandFailure.sentence(for: error)) }
        }
        switch kind {
        case .string, .url: return .text(row.string(slot), isNumber: false)
        case .data:
            let bytes = row.variable(slot)
            return .bytes(UInt64(bytes.count), MediaType(bytes))
        case .date: return .text(DateText.text(of: row.date(slot)), isNumber: false)
        case .uuid, .bool, .codable:
            let text = row.json(slot, .attribute(kind))
            return .text(kind == .uuid ? text.filter { $0 != "\"" } : text, isNumber: false)
        default: return .text(row.json(slot, .attribute(kind)), isNumber: true)
        }
    }

    /// The longest title of an object, in characters.
    private static let titleMax = 60

    /// The title of an object: its first text that is in its row.
    ///
    /// - Returns: Nil if it has none, or cannot be read: its own page tells why.
    func title(of id: RecordID, _ ordinal: Int) -> String? {
        guard let entity = try? entity(entityName(ordinal)) else { return nil }
        let slots = entity.storage.layout.columns.indices.filter {
            entity.storage.layout.columns[$0].kind == .attribute(.string)
        }
        return try? row(id, entity) { row -> String? in
            let slot = slots.first { !row.isNil($0) && row.blobReference($0) == nil && !row.variable($0).isEmpty }
            return slot.map { Self.title(row.string($0)) }
        } ?? nil
    }

    private static func title(_ text: String) -> String {
        let line = text.prefix { !$0.isNewline }
        return line.count > titleMax ? line.prefix(titleMax) + "…" : String(line)
    }

    /// The first bytes of a value out of the row.
    func bytes(of blob: BlobReference, _ countMax: Int) throws -> [UInt8] {
        let end = min(UInt64(countMax), blob.byteCount)
        return try [UInt8](unsafeUninitializedCapacity: Int(end)) { buffer, count in
            try snapshot.readBlob(blob.identifier, range: 0..<end, into: UnsafeMutableRawBufferPointer(buffer))
            count = Int(end)
        }
    }

    /// A part of the members of a to-many relationship, in its order.
    ///
    /// - Parameters:
    ///   - owner: The object.
    ///   - relationship: The relationship.
    ///   - range: The places of the members.
    ///   - countMax: All members are counted up to this number, or to the end of the range.
    /// - Returns: The members, and their number.
    /// - Throws: If the index does not verify, or the disk does not answer.
    /// - Complexity: The keys up to the end of the range, and those that are counted.
    func members(
        of owner: RecordID, _ relationship: ToManyStorage, _ range: Range<Int>, countMax: Int
    ) throws -> (ids: [RecordID], count: Int) {
        var ids: [RecordID] = []
        var count = 0
        try MemberKey.withPrefix(owner: owner) { prefix in
            try snapshot.forEachEntry(in: relationship.members.index, prefix: prefix) { key, id in
                guard let member = MemberKey.member(key, id: id) else { return true }
                if range.contains(count) { ids.append(member) }
                count += 1
                return count < max(range.upperBound, countMax)
            }
        }
        return (ids, count)
    }
}
