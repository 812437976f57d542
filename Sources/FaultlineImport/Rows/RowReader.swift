#if Import
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore
internal import Foundation

/// An object of the source in the form of a new row.
struct SourceRow {
    let entity: StoreMapping.Entity
    let number: RecordID
    /// The values, but for large ones; the receiver destroys it.
    var draft: Draft
    let large: [LargeValue]
}

/// Reads the objects of a table by rising number, and makes rows of them.
///
/// The row of an object follows from the source alone: reading it again gives the same row and the same findings.
final class RowReader {
    /// The greatest number of an object: its location takes memory for all smaller ones.
    static let numberMax: Int64 = 1 << 32

    private let database: SQLiteDatabase
    private let table: StoreMapping.Table
    private let externalFolder: String
    private let query: SQLiteQuery
    /// Receives what cannot be carried over; nil if that was done before.
    private let findings: FindingLog?
    /// Rows with the declared defaults, by entity number.
    private var defaults: [Int64: Draft] = [:]

    /// Begins behind a number.
    ///
    /// - Throws: `ImportError` if the table cannot be read.
    init(
        _ database: SQLiteDatabase, _ table: StoreMapping.Table, externalFolder: String,
        after number: Int64, findings: FindingLog?
    ) throws(ImportError) {
        self.database = database
        self.table = table
        self.externalFolder = externalFolder
        self.findings = findings
        query = try database.query(table.sql)
        query.bind(number, at: 1)
        for (number, entity) in table.entities { defaults[number] = entity.blankRow() }
    }

    deinit { for draft in defaults.values { draft.destroy() } }

    /// The next object; nil behind the last one.
    ///
    /// - Throws: `ImportError` if the source cannot be read, or a finding cannot be written.
    func next() throws(ImportError) -> SourceRow? {
        while try query.next() {
            guard let number = query.integer(0) else { continue }
            guard let type = query.integer(1), let entity = table.entities[type], let blank = defaults[type] else {
                try noteRow(.unknownEntity, "", number, "Z_ENT", query.value(1))
                continue
            }
            guard number > 0, number <= Self.numberMax else {
                try noteRow(.invalidNumber, entity.name, number, "Z_PK", .integer(number))
                continue
            }
            var row = Reading(entity: entity, number: number, draft: blank.copy())
            do throws(ImportError) {
                for attribute in entity.attributes { try read(attribute, &row) }
                for relationship in entity.toOnes { try read(relationship, &row) }
            } catch {
                row.draft.destroy()
                throw error
            }
            return SourceRow(entity: entity, number: RecordID(number), draft: row.draft, large: row.large)
        }
        return nil
    }

    private struct Reading {
        let entity: StoreMapping.Entity
        let number: Int64
        var draft: Draft
        var large: [LargeValue] = []
    }

    private func note(
        _ reason: ImportFinding.Reason, _ property: String, _ column: String, _ value: SQLiteValue, _ row: Reading
    ) throws(ImportError) {
        try findings?.note(
            reason, row.entity.name, property, row.number, column: "\(table.name).\(column)", .value(value))
    }

    /// Notes a value that is read piece by piece.
    private func note(
        _ reason: ImportFinding.Reason, _ property: String, _ column: String, _ large: LargeValue, _ row: Reading
    ) throws(ImportError) {
        try findings?.note(
            reason, row.entity.name, property, row.number, column: "\(table.name).\(column)",
            .large(large, database, row: row.number))
    }

    /// Notes a row that is not carried over, with all its columns.
    private func noteRow(
        _ reason: ImportFinding.Reason, _ entity: String, _ number: Int64, _ column: String, _ value: SQLiteValue
    ) throws(ImportError) {
        guard let findings else { return }
        let rows = try WholeRows(database, table.name, table.columns, number: "Z_PK", exactly: number)
        // The bytes of the columns belong to the query.
        defer { withExtendedLifetime(rows) {} }
        let row = try rows.next() == nil ? [] : rows.values
        try findings.note(
            reason, entity, "", number, column: "\(table.name).\(column)", .value(value), row: row)
    }

    // MARK: Attributes

    @inline(__always)
    private func read(_ attribute: StoreMapping.Attribute, _ row: inout Reading) throws(ImportError) {
        guard case .column(let source) = attribute.source else { return try readComposite(attribute, &row) }
        if let sizeIndex = source.sizeIndex {
            let size = query.integer(sizeIndex) ?? -1
            if attribute.isExternal, size >= 0 {
                return try readExternal(attribute, source, Int(size), &row)
            }
            if size > RowQuery.largeByteCountMin {
                return try take(
                    attribute, .column(table: table.name, column: source.column, offset: 0), Int(size), source, &row)
            }
        }
        let value = query.value(source.index)
        do throws(Misfit) {
            let read = try ValueReading.read(value, as: attribute.kind)
            guard case .none = read else { return row.draft.set(read, attribute.slot) }
            if attribute.isOptional { return }
        } catch { return try note(error.reason, attribute.name, source.column, value, row) }
        try note(.missingValue, attribute.name, source.column, value, row)
    }

    /// Reads a value that begins with a byte: 1 if the bytes follow, 2 if the name of their file follows.
    private func readExternal(
        _ attribute: StoreMapping.Attribute, _ source: StoreMapping.Value, _ size: Int, _ row: inout Reading
    ) throws(ImportError) {
        if size > RowQuery.largeByteCountMin {
            let blob = try database.openBlob(table.name, source.column, row: row.number)
            var marker: UInt8 = 0
            try withUnsafeMutableBytes(of: &marker) { (byte) throws(ImportError) in try blob.read(into: byte, at: 0) }
            guard marker == 1 else {
                let place = LargeValue.Place.column(table: table.name, column: source.column, offset: 0)
                return try note(
                    .unknownMarker, attribute.name, source.column,
                    LargeValue(slot: attribute.slot, place: place, byteCount: size), row)
            }
            return try take(
                attribute, .column(table: table.name, column: source.column, offset: 1), size - 1, source, &row)
        }
        let value = query.value(source.index)
        guard case .blob(let bytes) = value else {
            return try note(.wrongType, attribute.name, source.column, value, row)
        }
        switch bytes.first {
        case 1?:
            row.draft.setBytes(attribute.slot, UnsafeRawBufferPointer(rebasing: bytes[1...]))
        case 2?:
            // The name may end with a zero byte. Nothing but a UUID is a name: it must not lead to another folder.
            let name = String(decoding: bytes[1...].prefix { $0 != 0 }, as: UTF8.self)
            guard UUID(uuidString: name) != nil else {
                return try note(.unknownMarker, attribute.name, source.column, value, row)
            }
            let path = externalFolder + name
            guard let byteCount = try LargeValue.byteCount(ofFile: path) else {
                return try note(.missingFile, attribute.name, source.column, value, row)
            }
            try take(attribute, .file(path), byteCount, source, &row)
        default: try note(.unknownMarker, attribute.name, source.column, value, row)
        }
    }

    /// Leaves a large value to be read piece by piece.
    private func take(
        _ attribute: StoreMapping.Attribute, _ place: LargeValue.Place, _ byteCount: Int,
        _ source: StoreMapping.Value, _ row: inout Reading
    ) throws(ImportError) {
        guard byteCount > 0 else {
            return row.draft.setBytes(attribute.slot, UnsafeRawBufferPointer(start: nil, count: 0))
        }
        // A unique value stays in the row.
        let value = LargeValue(slot: attribute.slot, place: place, byteCount: byteCount)
        guard !row.entity.storage.uniqueSlots.contains(attribute.slot), byteCount <= Limits.blobByteCountMax else {
            return try note(.tooLarge, attribute.name, source.column, value, row)
        }
        row.large.append(value)
    }

    private func readComposite(_ attribute: StoreMapping.Attribute, _ row: inout Reading) throws(ImportError) {
        guard case .composite(let parts) = attribute.source else { return }
        guard let members = try members(parts, attribute.name + ".", row), let value = try? CodableValue(members) else {
            if !attribute.isOptional { try note(.missingValue, attribute.name, "", .null, row) }
            return
        }
        value.bytes.withUnsafeBytes { row.draft.setBytes(attribute.slot, $0) }
    }

    /// The members of a composite attribute; nil if none has a value.
    private func members(
        _ parts: [StoreMapping.Part], _ path: String, _ row: Reading
    ) throws(ImportError) -> CompositeValue? {
        var values: [CompositeValue?] = []
        /// Parts that have no value, not those with a wrong one, which is a finding already.
        var empty: [(name: String, column: String)] = []
        for part in parts {
            var read: CompositeValue?
            switch part.source {
            case .composite(let inner):
                read = try members(inner, path + part.name + ".", row)
                if read == nil, !part.isOptional { empty.append((part.name, "")) }
            case .column(let source):
                let value = query.value(source.index)
                do throws(Misfit) {
                    read = CompositeValue(try ValueReading.read(value, as: part.kind), part.kind)
                    if read == nil, !part.isOptional { empty.append((part.name, source.column)) }
                } catch { try note(error.reason, path + part.name, source.column, value, row) }
            }
            values.append(read)
        }
        guard values.contains(where: { $0 != nil }) else { return nil }
        // A structure can be decoded only if it has all members that are required.
        for part in empty { try note(.missingValue, path + part.name, part.column, .null, row) }
        var members: [(name: String, value: CompositeValue)] = []
        for (part, value) in zip(parts, values) {
            if let value = value ?? (part.isOptional ? nil : part.substitute) { members.append((part.name, value)) }
        }
        return .members(members)
    }

    // MARK: Relationships

    @inline(__always)
    private func read(_ relationship: StoreMapping.ToOne, _ row: inout Reading) throws(ImportError) {
        let value = query.value(relationship.value.index)
        func note(_ reason: ImportFinding.Reason) throws(ImportError) {
            try self.note(reason, relationship.name, relationship.value.column, value, row)
        }
        switch value {
        case .null:
            if !relationship.isOptional { try note(.missingValue) }
        case .integer(let target):
            guard target > 0, target <= Self.numberMax, let type = query.integer(relationship.targetIndex),
                relationship.destinations.contains(type)
            else { return try note(.missingObject) }
            if let inverse = relationship.inverseIndex, query.integer(inverse) != row.number {
                return try note(.oneSided)
            }
            row.draft.setToOne(relationship.slot, RecordID(target))
            guard let order = relationship.order else { return }
            let position = query.value(order.index)
            switch position {
            case .integer(let number): row.draft.setOrderKey(relationship.slot, order.scale.key(number))
            case .null: break
            default: try self.note(.unknownOrder, relationship.name, order.column, position, row)
            }
        default: try note(.wrongType)
        }
    }
}
#endif
