/// The entries that transactions have added to an index.
extension Snapshot {
    /// The largest sequence number of an entry of an index, or a larger one: no entry came behind it.
    ///
    /// - Returns: Above the snapshot's own number if transactions behind it have changed the index.
    package func newestSequence(in index: IndexDefinition) -> UInt64 {
        guard let state = indexes[index.id] else { return 0 }
        let memtables = ([state.active] + state.frozen).map(\.lastSequence).max() ?? 0
        return max(memtables, state.runs.map(\.footer.lastSequence).max() ?? 0)
    }

    /// Passes the entries with some beginning that transactions behind another one have added to an index, deletions
    /// too, to a closure: by key, each as often as it was added.
    ///
    /// - Parameters:
    ///   - index: The index.
    ///   - prefix: The beginning of the keys.
    ///   - sequence: The other transaction, which the snapshot sees.
    ///   - body: Gets key and deletion; the key is valid during the call.
    /// - Returns: False if files have some of them, where several may have become one; nothing is passed then.
    /// - Throws: Errors of the merge, which reads no file.
    /// - Complexity: The entries with the beginning that are not in files yet.
    package func forEachChange(
        in index: IndexDefinition, prefix: [UInt8], behind sequence: UInt64,
        _ body: (_ key: UnsafeRawBufferPointer, _ isDelete: Bool) -> Void
    ) throws(LogError) -> Bool {
        guard let state = indexes[index.id], state.runs.allSatisfy({ $0.footer.lastSequence <= sequence }) else {
            return false
        }
        var merge = EntryMerge(limit: self.sequence)
        let result: Result<Void, LogError> = prefix.withUnsafeBytes { prefix in
            Result { () throws(LogError) in
                for memtable in [state.active] + state.frozen where memtable.lastSequence > sequence {
                    memtable.addEntries(prefix: prefix, from: prefix, to: &merge, at: self.sequence)
                }
                while let entry = try merge.next() {
                    let head = entry.pointee
                    let isWithin = prefix.baseAddress.map { start in
                        KeyBytes.hasPrefix(head.key, head.keyByteCount, start, prefix.count)
                    }
                    guard isWithin ?? true else { return }
                    guard head.sequence > sequence else { continue }
                    body(UnsafeRawBufferPointer(start: head.key, count: head.keyByteCount), head.isDelete)
                }
            }
        }
        try result.get()
        return true
    }
}
