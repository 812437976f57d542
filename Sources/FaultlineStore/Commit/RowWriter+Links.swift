package import FaultlineLog

// Rows of link tables: members of relationships that both sides store as collections.

extension RowWriter {
    /// Creates a link between two objects, at the positions of the order keys.
    package mutating func link(
        _ id: RecordID, left: RecordID, right: RecordID, leftOrder: UInt64, rightOrder: UInt64, _ side: LinkSide,
        in transaction: inout Transaction
    ) throws(StoreError) {
        let leftIndex = side.isLeft ? side.index : side.otherIndex
        let rightIndex = side.isLeft ? side.otherIndex : side.index
        do throws(LogError) {
            try transaction.put(
                id, in: side.table, layout: side.layout, changed: nil, flags: .none, byteCount: LinkRow.byteCount
            ) { LinkRow.write(left: left, right: right, leftOrder: leftOrder, rightOrder: rightOrder, to: $0) }
            try MemberKey.with(owner: left, order: leftOrder, member: right) { (bytes) throws(LogError) in
                try transaction.insertEntry(leftIndex, key: bytes, id: id)
            }
            try MemberKey.with(owner: right, order: rightOrder, member: left) { (bytes) throws(LogError) in
                try transaction.insertEntry(rightIndex, key: bytes, id: id)
            }
        } catch { throw StoreError(error) }
    }

    /// Changes the positions of a link in its two collections; a nil key leaves one unchanged.
    package mutating func move(
        _ id: RecordID, leftOrder: UInt64?, rightOrder: UInt64?, _ side: LinkSide, in transaction: inout Transaction
    ) throws(StoreError) {
        let leftIndex = side.isLeft ? side.index : side.otherIndex
        let rightIndex = side.isLeft ? side.otherIndex : side.index
        do {
            guard let row = try transaction.record(id, in: side.table, { LinkRow.read($0.row) }).flatMap({ $0 }) else {
                return
            }
            let newLeft = leftOrder ?? row.leftOrder
            let newRight = rightOrder ?? row.rightOrder
            func change(
                _ index: IndexDefinition, _ owner: RecordID, _ member: RecordID, from old: UInt64, to new: UInt64
            ) throws(LogError) {
                guard old != new else { return }
                try MemberKey.with(owner: owner, order: old, member: member) { (bytes) throws(LogError) in
                    try transaction.removeEntry(index, key: bytes, id: id)
                }
                try MemberKey.with(owner: owner, order: new, member: member) { (bytes) throws(LogError) in
                    try transaction.insertEntry(index, key: bytes, id: id)
                }
            }
            try change(leftIndex, row.left, row.right, from: row.leftOrder, to: newLeft)
            try change(rightIndex, row.right, row.left, from: row.rightOrder, to: newRight)
            try transaction.put(
                id, in: side.table, layout: side.layout, changed: SlotMask.all, flags: .none,
                byteCount: LinkRow.byteCount
            ) { LinkRow.write(left: row.left, right: row.right, leftOrder: newLeft, rightOrder: newRight, to: $0) }
        } catch let error as LogError { throw StoreError(error) } catch {
            throw StoreError(.malformed, "\(error)")
        }
    }

    /// Removes a link by its number.
    package mutating func unlink(
        _ id: RecordID, _ side: LinkSide, in transaction: inout Transaction
    ) throws(StoreError) {
        let leftIndex = side.isLeft ? side.index : side.otherIndex
        let rightIndex = side.isLeft ? side.otherIndex : side.index
        do {
            let row = try transaction.record(id, in: side.table) { LinkRow.read($0.row) }
            guard let row = row.flatMap({ $0 }) else { return }
            try MemberKey.with(owner: row.left, order: row.leftOrder, member: row.right) { (bytes) throws(LogError) in
                try transaction.removeEntry(leftIndex, key: bytes, id: id)
            }
            try MemberKey.with(owner: row.right, order: row.rightOrder, member: row.left) { (bytes) throws(LogError) in
                try transaction.removeEntry(rightIndex, key: bytes, id: id)
            }
            try transaction.delete(id, in: side.table)
        } catch let error as LogError { throw StoreError(error) } catch {
            throw StoreError(.malformed, "\(error)")
        }
    }
}
