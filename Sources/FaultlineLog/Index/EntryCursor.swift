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
