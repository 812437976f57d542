import FaultlineCommands
import FaultlineDisk
import FaultlineLog
import FaultlineModel
import FaultlineStore
import Foundation

/// Writes the objects of a store as lines of JSON, and skips damage.
///
/// All lines are of one snapshot. Memory does not grow with the data: collections and blobs are written as they are
/// read.
final class ObjectDump {
    private static let pieceByteCount = 3 << 18

    private let store: OpenedStore
    private let blobs: BlobDestination
    private let output = DumpOutput()
    /// Objects that were written.
    private(set) var objectCount = 0
    /// Lines that report damage.
    private(set) var damagedCount = 0
    /// The faults of the object being written.
    private var damage: [JSONLine] = []

    init(_ store: OpenedStore, blobs: BlobDestination) {
        self.store = store
        self.blobs = blobs
    }

    /// Writes the objects of an entity, in the order of creation.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - limit: The most objects to print.
    ///   - progress: Gets how many objects are written in all.
    /// - Throws: If the output takes no more, or the disk does not answer.
    func run(_ entity: EntityStorage, limit: Int, progress: (Int) -> Void) throws {
        var left = limit
        try store.snapshot.scanPastDamage(entity.table, readAhead: 256 << 10) { records in
            if left > 0 { try self.write(records, entity) }
        } _: { records in
            for record in records where left > 0 {
                left -= 1
                try self.write(record, entity)
            }
            progress(self.objectCount)
            return left > 0
        }
        try output.flush()
    }

    private func write(_ records: UnreadableRecords, _ entity: EntityStorage) throws {
        try output.write("{\"entity\":\(JSONLine.quoted(entity.name)),\"id\":\(records.ids.lowerBound)")
        if records.ids.count > 1 { try output.write(",\"last_id\":\(records.ids.upperBound)") }
        note(records.error, nil)
        try endLine()
    }

    private func write(_ record: RecordView, _ entity: EntityStorage) throws {
        try output.write("{\"entity\":\(JSONLine.quoted(entity.name)),\"id\":\(record.id)")
        do {
            let row = try store.rows.view(record, of: entity)
            try write(row, record.id, entity)
            objectCount += 1
        } catch let error as StoreError {
            note(error, nil)
        }
        try endLine()
    }

    private func endLine() throws {
        if !damage.isEmpty {
            damagedCount += 1
            try output.write(",\"damage\":[" + damage.map(\.line).joined(separator: ",") + "]")
            damage.removeAll()
        }
        try output.write("}\n")
    }

    private func note(_ error: any Error, _ property: String?) {
        var line = JSONLine()
        if let property { line.add("property", property) }
        if let error = error as? LogError {
            line.add("message", error.fault)
            if let path = error.path { line.add("path", path) }
            if let offset = error.offset { line.add("offset", Int(clamping: offset)) }
        } else {
            line.add("message", CommandFailure.sentence(for: error))
        }
        damage.append(line)
    }

    // MARK: Values

    private func write(_ row: RowView, _ id: RecordID, _ entity: EntityStorage) throws {
        let properties = store.catalog.schema.entities[entity.ordinal].properties
        try output.write(",\"values\":{")
        for (slot, property) in properties.enumerated() {
            let kind = entity.layout.columns[slot].kind
            try output.write((slot > 0 ? "," : "") + JSONLine.quoted(property.name) + ":")
            if case .toMany(let relationship) = entity.slots[slot] {
                try writeMembers(of: id, relationship, property.name)
            } else if kind.isVariable, !row.isNil(slot), let blob = row.blobReference(slot) {
                try write(blob, property.name)
            } else {
                try output.write(row.json(slot, kind))
            }
        }
        try output.write("}")
    }

    /// The identifiers of a collection's members, in its order.
    private func writeMembers(of id: RecordID, _ relationship: ToManyStorage, _ property: String) throws {
        try output.write("[")
        var isFirst = true
        do {
            try MemberKey.withPrefix(owner: id) { prefix in
                try store.snapshot.forEachEntry(in: relationship.members.index, prefix: prefix) { key, id in
                    guard let member = MemberKey.member(key, id: id) else { return true }
                    try output.write(isFirst ? "\(member)" : ",\(member)")
                    isFirst = false
                    return true
                }
            }
        } catch let error as LogError where error.isUnreadable {
            note(error, property)
        }
        try output.write("]")
    }

    private func write(_ blob: BlobReference, _ property: String) throws {
        try output.write("{\"blob\":\(blob.identifier),\"bytes\":\(blob.byteCount)")
        do {
            switch blobs {
            case .none: break
            case .base64: try writeBase64(blob)
            case .folder(let folder): try writeFile(blob, in: folder)
            }
        } catch let error as LogError where error.isUnreadable || error.code == .missing {
            note(error, property)
        }
        try output.write("}")
    }

    /// Writes the bytes up to the first unreadable one.
    private func writeBase64(_ blob: BlobReference) throws {
        try output.write(",\"base64\":\"")
        var failure: (any Error)?
        do {
            try forEachPiece(of: blob) { bytes, _ in
                try output.write(Data(bytes).base64EncodedString())
            }
        } catch { failure = error }
        try output.write("\"")
        if let failure { throw failure }
    }

    /// Writes the bytes to a file, which is removed if they cannot be read.
    private func writeFile(_ blob: BlobReference, in folder: String) throws {
        let disk = PosixDisk()
        let path = "\(folder)/\(blob.identifier).blob"
        do {
            let file = try disk.open(path, for: .creating)
            defer { file.close() }
            try forEachPiece(of: blob) { bytes, offset in try file.write(bytes, at: offset) }
        } catch let error as DiskError {
            throw CommandFailure(CommandFailure.refused, "\(error) The dump is not whole.")
        } catch {
            try? disk.remove(path)
            throw error
        }
        try output.write(",\"file\":\(JSONLine.quoted("\(blob.identifier).blob"))")
    }

    private func forEachPiece(
        of blob: BlobReference, _ body: (UnsafeRawBufferPointer, _ offset: UInt64) throws -> Void
    ) throws {
        let byteCount = try store.snapshot.blobByteCount(blob.identifier)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceByteCount, alignment: 64)
        defer { memory.deallocate() }
        var offset: UInt64 = 0
        while offset < byteCount {
            let end = min(offset + UInt64(Self.pieceByteCount), byteCount)
            let piece = UnsafeMutableRawBufferPointer(rebasing: memory[..<Int(end - offset)])
            try store.snapshot.readBlob(blob.identifier, range: offset..<end, into: piece)
            try body(UnsafeRawBufferPointer(piece), offset)
            offset = end
        }
    }
}
