/// Visits the live entries of an index whose keys begin with some bytes, one by one.
///
/// Not for two threads at once.
package final class EntryCursor {
    /// Entries that a move to a key passes one by one before it searches for the key.
    private static let stepCountMax = 16

    private let state: IndexState
    private let prefix: [UInt8]
    private let sequence: UInt64
    private var merge: EntryMerge
    private var filter = VersionFilter(oldestLimit: .max, dropsDeletes: false)

    /// The current entry's key, valid until the next move.
    package private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The current entry's object.
    package private(set) var id: RecordID = 0
    /// Whether there is no further entry.
    package private(set) var isAtEnd = false
    /// How many entries were visited.
    package private(set) var visitedCount = 0

    fileprivate init(_ state: IndexState, prefix: [UInt8], at sequence: UInt64) throws(LogError) {
        self.state = state
        self.prefix = prefix
        self.sequence = sequence
        merge = try state.merge(prefix: prefix, from: prefix, at: sequence)
    }

    /// Moves to the next entry.
    ///
    /// - Returns: False at the end.
    /// - Throws: `.damaged` if a block does not verify; errors of reading it.
    package func advance() throws(LogError) -> Bool {
        do throws(LogError) { return try step() } catch { throw state.noting(error) }
    }

    private func step() throws(LogError) -> Bool {
        while !isAtEnd, let entry = try merge.next() {
            let head = entry.pointee
            // Sources end behind the prefix, not with it.
            let isWithin = prefix.withUnsafeBytes { bytes in
                bytes.baseAddress.map { KeyBytes.hasPrefix(head.key, head.keyByteCount, $0, bytes.count) } ?? true
            }
            guard isWithin else { break }
            guard filter.keeps(entry), !head.isDelete else { continue }
            visitedCount += 1
            key = UnsafeRawBufferPointer(start: head.key, count: head.keyByteCount)
            id = head.id
            return true
        }
        isAtEnd = true
        return false
    }

    /// Moves to the first entry, from the next one on, whose key is not below another, which begins with the prefix.
    ///
    /// - Returns: False at the end.
    /// - Throws: As `advance()`.
    /// - Complexity: A few entries, or a search in each source.
    package func advance(toNotBelow target: [UInt8]) throws(LogError) -> Bool {
        do throws(LogError) {
            for _ in 0..<Self.stepCountMax {
                guard try step() else { return false }
                if !isBelow(target) { return true }
            }
            merge = try state.merge(prefix: prefix, from: target, at: sequence)
            filter = VersionFilter(oldestLimit: .max, dropsDeletes: false)
            while try step() { if !isBelow(target) { return true } }
            return false
        } catch { throw state.noting(error) }
    }

    private func isBelow(_ target: [UInt8]) -> Bool {
        target.withUnsafeBytes { target in
            guard let own = key.baseAddress, let other = target.baseAddress else { return false }
            return KeyBytes.order(own, key.count, other, target.count) < 0
        }
    }
}

extension IndexState {
    /// The sources of entries whose keys begin with a prefix, from a key on.
    fileprivate func merge(prefix: [UInt8], from first: [UInt8], at sequence: UInt64) throws(LogError) -> EntryMerge {
        var merge = EntryMerge(limit: sequence)
        let result: Result<Void, LogError> = prefix.withUnsafeBytes { prefix in
            first.withUnsafeBytes { first in
                Result { () throws(LogError) in
                    try addEntries(prefix: prefix, from: first, to: &merge, at: sequence)
                }
            }
        }
        try result.get()
        return merge
    }
}

extension Snapshot {
    /// A cursor over the entries whose keys begin with some bytes, before the first one; nil if the state lacks the
    /// index.
    ///
    /// - Throws: `LogError` if a run cannot be read or does not verify.
    package func cursor(in index: IndexDefinition, prefix: [UInt8]) throws(LogError) -> EntryCursor? {
        guard let state = indexes[index.id] else { return nil }
        do throws(LogError) { return try EntryCursor(state, prefix: prefix, at: sequence) } catch {
            throw state.noting(error)
        }
    }
}

extension Snapshot {
    /// The largest sequence number of an entry of an index, or a larger one: no entry came behind it.
    ///
    /// - Returns: Above the snapshot's own number if transactions behind it have changed the index.
    package func newestSequence(in index: IndexDefinition) -> UInt64 {
        guard let state = indexes[index.id] else { return 0 }
        let memtables = ([state.active] + state.frozen).map(\.lastSequence).max() ?? 0
        return max(memtables, state.runs.map(\.footer.lastSequence).max() ?? 0)
    }
}

extension Snapshot {
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
