#if Import
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A uniqueness constraint that objects of the source break.
struct BrokenConstraint: Error {
    let entity: String
    let properties: [String]
    let object: Int64
    let holder: UInt64
}

/// Writes the objects and links of a source into a new store, in batches of one transaction each.
///
/// Each object keeps its number, and each link has the number of its row, so the greatest number in a table of the new
/// store says where an interrupted import goes on.
final class RowImport {
    /// A batch ends at this many objects, or at this many bytes.
    private static let batchCount = 8_192
    private static let batchByteCount = 4 << 20

    private let store: RowStore
    private let database: SQLiteDatabase
    private let externalFolder: String
    private let findings: FindingLog?
    /// The source's values so far; of no use after an interruption.
    private(set) var tallies: SourceTallies
    /// Called after each batch.
    private let advance: (_ phase: ImportProgress.Phase, _ table: String, _ count: Int) -> Void

    init(
        _ store: RowStore, _ database: SQLiteDatabase, _ mapping: StoreMapping, externalFolder: String,
        findings: FindingLog?,
        advance: @escaping (_ phase: ImportProgress.Phase, _ table: String, _ count: Int) -> Void
    ) {
        self.store = store
        self.database = database
        self.externalFolder = externalFolder
        self.findings = findings
        self.advance = advance
        tallies = SourceTallies(mapping)
    }

    /// Writes the objects of a table that the new store lacks.
    ///
    /// - Throws: `BrokenConstraint`; `ImportError`; the errors of the store.
    func run(_ table: StoreMapping.Table) throws {
        let snapshot = store.log.snapshot()
        let next = table.entities.values.map { snapshot.nextID(of: $0.storage.table) }.max() ?? 1
        let reader = try RowReader(
            database, table, externalFolder: externalFolder,
            after: next > 1 ? Int64(next) - 1 : Int64.min, findings: findings)
        var isDone = false
        while !isDone {
            var count = 0
            _ = try store.log.write(author: nil) { transaction in
                var writer = RowWriter(store)
                var byteCount = 0
                while count < Self.batchCount, byteCount < Self.batchByteCount {
                    guard var row = try reader.next() else {
                        isDone = true
                        break
                    }
                    defer { row.draft.destroy() }
                    byteCount += try write(&row, &writer, &transaction)
                    count += 1
                }
            }
            advance(.objects, table.name, count)
        }
    }

    /// Writes an object; returns how many bytes it has.
    private func write(
        _ row: inout SourceRow, _ writer: inout RowWriter, _ transaction: inout Transaction
    ) throws -> Int {
        let entity = row.entity.storage
        let next = transaction.nextID(in: entity.table)
        if row.number >= next { _ = try transaction.allocateIDs(Int(row.number - next) + 1, in: entity.table) }
        if !entity.uniqueIndexes.isEmpty {
            if let conflict = try writer.holders(of: row.draft, entity, in: transaction).first {
                throw broken(conflict, row)
            }
            try writer.enterKeys(row.draft, id: row.number, entity, in: &transaction)
        }
        _ = tallies.entities[row.entity.ordinal].add(row.draft, row.number, entity, skipping: row.large)
        var byteCount = row.draft.encodedByteCount
        for value in row.large {
            let owner = BlobOwner(table: entity.table, slot: UInt16(value.slot), id: row.number)
            var hash = ValueHash(row.number)
            let blob = try value.read(database, row: Int64(row.number)) { next in
                try transaction.putBlob(byteCount: UInt64(value.byteCount), owner: owner) { target in
                    try HashedPieces.fill(target, &hash, next)
                }
            }
            tallies.entities[row.entity.ordinal].columns[value.slot].add(hash, byteCount: value.byteCount)
            row.draft.setBlobReference(value.slot, identifier: blob, byteCount: UInt64(value.byteCount))
            byteCount += value.byteCount
        }
        try writer.insert(row.draft, id: row.number, entity, in: &transaction)
        return byteCount
    }

    private func broken(_ conflict: StoreError.KeyConflict, _ row: SourceRow) -> BrokenConstraint {
        let names = Dictionary(zip(row.entity.slots, row.entity.properties.map(\.name))) { first, _ in first }
        return BrokenConstraint(
            entity: row.entity.name, properties: conflict.slots.compactMap { names[$0] },
            object: Int64(row.number), holder: conflict.holder)
    }

    // MARK: Links

    /// Writes the links of a relationship that the new store lacks.
    ///
    /// - Throws: As `run` for a table.
    func run(_ links: StoreMapping.Links) throws {
        let next = store.log.snapshot().nextID(of: links.side.table)
        let last = Int64(next) - 1 - links.offset
        let reader = try LinkReader(database, links, after: last > 0 ? last : Int64.min, findings: findings)
        var isDone = false
        while !isDone {
            var count = 0
            _ = try store.log.write(author: nil) { transaction in
                var writer = RowWriter(store)
                while count < Self.batchCount {
                    guard let link = try reader.next() else {
                        isDone = true
                        break
                    }
                    let next = transaction.nextID(in: links.side.table)
                    if link.number >= next {
                        _ = try transaction.allocateIDs(Int(link.number - next) + 1, in: links.side.table)
                    }
                    try writer.link(
                        link.number, left: link.left, right: link.right, leftOrder: link.leftOrder,
                        rightOrder: link.rightOrder, links.side, in: &transaction)
                    tallies.links[links.position, default: ColumnTally()].add(link)
                    count += 1
                }
            }
            advance(.links, links.table, count)
        }
    }
}

/// The values of all objects and links of the source.
struct SourceTallies {
    /// By position in the model.
    var entities: [EntityTally]
    /// By position in the mapping.
    var links: [Int: ColumnTally] = [:]

    init(_ mapping: StoreMapping) {
        let all = mapping.entities
        entities = Array(repeating: EntityTally(0), count: (all.map(\.ordinal).max() ?? -1) + 1)
        for entity in all { entities[entity.ordinal] = EntityTally(entity.storage.slots.count) }
    }
}

/// Fills memory with the next piece of a large value whose size the hash can take.
enum HashedPieces {
    static func fill(
        _ target: UnsafeMutableRawBufferPointer, _ hash: inout ValueHash,
        _ next: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> Int {
        let whole = target.count > 8 ? UnsafeMutableRawBufferPointer(rebasing: target[..<(target.count & ~7)]) : target
        let count = try next(whole)
        hash.add(UnsafeRawBufferPointer(rebasing: whole[..<count]))
        return count
    }
}
#endif
