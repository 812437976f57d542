/// Reads the texts of an index from rows and drafts, in or out of their row.
package struct RowTexts {
    private let index: TextIndex
    private let load: (BlobReference) throws(StoreError) -> [UInt8]

    /// - Parameters:
    ///   - index: The index.
    ///   - load: Reads a value that lies outside of its row.
    package init(_ index: TextIndex, load: @escaping (BlobReference) throws(StoreError) -> [UInt8]) {
        self.index = index
        self.load = load
    }

    /// Puts the texts of a row, by the slots in force, into a document.
    package func read(_ row: RowView, into document: inout TextDocument) throws(StoreError) {
        document.removeAll()
        for (field, slot) in index.slots.enumerated() where !row.isNil(slot) {
            if let reference = row.blobReference(slot) {
                try add(reference, field, to: &document)
            } else {
                document.add(row.variable(slot), field: field)
            }
        }
    }

    /// Puts the texts of a draft into a document.
    package func read(_ draft: Draft, into document: inout TextDocument) throws(StoreError) {
        document.removeAll()
        for (field, slot) in index.slots.enumerated() where !draft.isNil(slot) {
            if let reference = draft.blobReference(slot) {
                try add(reference, field, to: &document)
            } else {
                document.add(draft.variable(slot), field: field)
            }
        }
    }

    /// The texts of a row, by the slots in force; empty for nil.
    package func bytes(of row: RowView) throws(StoreError) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        for slot in index.slots {
            let reference = row.isNil(slot) ? nil : row.blobReference(slot)
            texts.append(try reference.map(load) ?? (row.isNil(slot) ? [] : Array(row.variable(slot))))
        }
        return texts
    }

    /// The texts of a draft; empty for nil.
    package func bytes(of draft: Draft) throws(StoreError) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        for slot in index.slots {
            let reference = draft.isNil(slot) ? nil : draft.blobReference(slot)
            texts.append(try reference.map(load) ?? (draft.isNil(slot) ? [] : Array(draft.variable(slot))))
        }
        return texts
    }

    private func add(
        _ reference: BlobReference, _ field: Int, to document: inout TextDocument
    ) throws(StoreError) {
        try load(reference).withUnsafeBytes { document.add($0, field: field) }
    }
}
