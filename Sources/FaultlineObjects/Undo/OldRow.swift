internal import FaultlineLog
internal import FaultlineStore

/// A copy of a stored row, with its large values held: it is read while other rows come and go.
struct OldRow {
    private let bytes: [UInt8]
    private let table: UnsafePointer<LayoutTable>
    private let hasExtension: Bool
    private var blobs: [Int: Blob] = [:]

    /// Nil if there is no row.
    ///
    /// - Parameters:
    ///   - key: The object.
    ///   - slots: Attributes whose values will be set.
    ///   - context: Reads the state; it must outlive the copy.
    /// - Throws: The store's error if the row, or the place of a large value, cannot be read.
    init?(_ key: StoredKey, _ slots: [Int], in context: ContextCore) throws {
        guard let entity = context.homes[key.ordinal].entity else { return nil }
        try context.beginReading()
        defer { context.endReading() }
        var buffer = RecordBuffer()
        guard let record = try context.snapshot.read(key.number, in: entity.table, into: &buffer) else { return nil }
        let row = try context.store.view(record, of: entity)
        bytes = Array(UnsafeRawBufferPointer(start: row.base, count: Int(row.byteCount)))
        table = row.table
        hasExtension = row.hasExtension
        for slot in slots where entity.layout.columns[slot].isVariable && !row.isNil(slot) {
            if let reference = row.blobReference(slot) { blobs[slot] = try context.blob(reference) }
        }
    }

    /// Sets an attribute of an object to the value of the row.
    func set(_ slot: Int, of handle: ObjectHandle) {
        if let blob = blobs[slot] { return handle.core.pointee.setBlob(blob, of: slot) }
        guard handle.core.pointee._$beginChange(slot) else { return }
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            // Safe because the bytes were checked as a row of this layout when they were read.
            let row = RowView(
                trusted: base, byteCount: bytes.count, table: table, hasExtension: hasExtension)
            handle.core.pointee.write { draft in
                draft.copyValue(of: row, slot: slot, into: slot)
                draft.mark(slot)
            }
        }
    }
}
