import FaultlineDisk

/// Visits the objects that have one term, by the live entries of an index, in ascending order.
///
/// It makes no keys where entries lie in blocks of postings. Not for two threads at once.
package final class PostingCursor {
    private let state: IndexState
    /// The parts of the index that have entries of the term, newest first.
    private let sources: [PostingSource]
    private let copy = KeyCopy()
    /// The part that has the current entry, if no copy was made of it.
    // Safe because no access to it calls anything.
    @exclusivity(unchecked) private var current: PostingSource?

    /// Entries from the current one on that need no look at the sources; the first of `sources` with its object has it.
    // Safe because no access to it calls anything.
    @exclusivity(unchecked) private var window: PostingWindow?

    /// The current object; 0 before the first move, `UInt64.max` at the end.
    // Safe because no access to this and the next one calls anything.
    @exclusivity(unchecked) package private(set) var id: RecordID = 0
    /// Whether an entry was met that is no posting, or an object has two.
    @exclusivity(unchecked) package private(set) var isMalformed = false
    /// The bytes of the current object's key behind term and identifier, valid until the next move.
    package var payload: UnsafeRawBufferPointer { window?.payload ?? current?.payload ?? copy.bytes }

    fileprivate init(_ state: IndexState, head: [UInt8], at limit: UInt64) throws(LogError) {
        self.state = state
        var sources: [PostingSource] = []
        for memtable in [state.active] + state.frozen {
            let tiers = head.withUnsafeBytes { memtable.tiers(prefix: $0, at: limit) }
            for tier in tiers { sources.append(TierPostings(tier, head: head, at: limit)) }
        }
        let prefixByteCount = state.definition.searchPrefix.byteCountMax
        let isSearchable = head.count >= prefixByteCount
        let hash =
            isSearchable ? head.withUnsafeBytes { IndexHash.hash($0, prefixByteCountMax: prefixByteCount) } : 0
        for run in state.runs where run.footer.firstSequence <= limit {
            if isSearchable, try !run.mayContain(prefixHash: hash) { continue }
            sources.append(try RunPostings(run, head: head, at: limit))
        }
        var present: [PostingSource] = []
        for source in sources {
            try source.advance()
            if source.isMalformed || source.id == 0 { isMalformed = true }
            if source.id != .max { present.append(source) }
        }
        self.sources = present
    }

    /// Moves to the first object behind the current one that is not below another one.
    ///
    /// - Returns: False at the end.
    /// - Throws: `.damaged` if a block does not verify; errors of reading it.
    /// - Complexity: The entries of a few blocks, or a search in each part of the index.
    @inline(__always)
    package func advance(notBelow target: RecordID) throws(LogError) -> Bool {
        if window?.seek(target) == true {
            id = window.unsafelyUnwrapped.id
            return true
        }
        return try search(target)
    }

    /// Moves as `advance(notBelow:)` does.
    ///
    /// - Returns: The object; `UInt64.max` at the end, 0 if an entry was met that is no posting, or an object has two.
    /// - Throws: As `advance(notBelow:)`.
    package func next(notBelow target: RecordID) throws(LogError) -> RecordID {
        _ = try advance(notBelow: target)
        return isMalformed ? 0 : id
    }

    @inline(never)
    private func search(_ target: RecordID) throws(LogError) -> Bool {
        if let window { leave(window, to: window.end) }
        do throws(LogError) {
            for source in sources where source.id < target { try move(source, to: target) }
            while true {
                var least = RecordID.max
                for source in sources { least = min(least, source.id) }
                if least == .max || isMalformed {
                    current = nil
                    id = .max
                    return false
                }
                if try takeLive(least) {
                    id = least
                    openWindow()
                    return true
                }
            }
        } catch { throw state.noting(error) }
    }

    /// Opens a window on the entries behind the current one, if only one source has its object.
    private func openWindow() {
        guard let current else { return }
        var bound = RecordID.max
        for source in sources where source !== current { bound = min(bound, source.id) }
        window = current.window(below: bound)
    }

    private func leave(_ window: PostingWindow, to entry: Int) {
        self.window = nil
        current?.leave(window, to: entry)
    }

    /// Counts the current object, if there is one, and those behind it; moves to the end.
    ///
    /// - Returns: The number of objects.
    /// - Throws: `.damaged` if a block does not verify; errors of reading it.
    /// - Complexity: The blocks of the term; the objects of a window cost nothing more.
    package func countRest() throws(LogError) -> Int {
        var count = 0
        var isThere = id == 0 ? try search(1) : id != .max
        while isThere {
            if let window {
                count += window.end - window.entry
                leave(window, to: window.end)
            } else {
                count += 1
            }
            isThere = try search(id + 1)
        }
        return count
    }

    private func move(_ source: PostingSource, to target: RecordID) throws(LogError) {
        try source.advance(notBelow: target)
        if source.isMalformed { isMalformed = true }
    }

    /// Passes all entries of an object, the least that the sources have; returns whether one is live.
    private func takeLive(_ id: RecordID) throws(LogError) -> Bool {
        current = nil
        if let only = only(id), only.isAlone {
            if only.isDelete {
                try move(only, to: id + 1)
                return false
            }
            // It moves with the next call.
            current = only
            return true
        }
        var found: Version?
        var others: [Version] = []
        for source in sources where source.id == id {
            repeat {
                let version = Version(sequence: source.sequence, isDelete: source.isDelete)
                if found == nil {
                    found = version
                    let payload = source.payload
                    copy.set(payload.baseAddress ?? UnsafeRawPointer(copy.start), payload.count)
                } else {
                    if others.isEmpty, let first = found { others.append(first.with(Array(copy.bytes))) }
                    others.append(version.with(Array(source.payload)))
                }
                try source.advance()
                if source.isMalformed { isMalformed = true }
            } while source.id == id
        }
        guard let found else { return false }
        return others.isEmpty ? !found.isDelete : takeLive(others)
    }

    /// The only part that has an entry of an object; nil if several have.
    private func only(_ id: RecordID) -> PostingSource? {
        var only: PostingSource?
        for source in sources where source.id == id {
            if only != nil { return nil }
            only = source
        }
        return only
    }

    private struct Version {
        let sequence: UInt64
        let isDelete: Bool
        var payload: [UInt8] = []

        func with(_ payload: [UInt8]) -> Version { Version(sequence: sequence, isDelete: isDelete, payload: payload) }
    }

    /// Chooses the live one of several entries of an object, which are keys of different payloads, or older ones.
    private func takeLive(_ versions: [Version]) -> Bool {
        var newest: [Version] = []
        for version in versions {
            if let place = newest.firstIndex(where: { $0.payload == version.payload }) {
                // Of one transaction the newer came first.
                if newest[place].sequence < version.sequence { newest[place] = version }
            } else {
                newest.append(version)
            }
        }
        newest.removeAll(where: \.isDelete)
        guard let live = newest.first else { return false }
        if newest.count > 1 { isMalformed = true }
        live.payload.withUnsafeBytes { bytes in
            copy.set(bytes.baseAddress ?? UnsafeRawPointer(copy.start), bytes.count)
        }
        return true
    }
}

extension Snapshot {
    /// A cursor over the objects that have a term, before the first one; nil if the state lacks the index.
    ///
    /// - Parameters:
    ///   - index: A text index.
    ///   - term: The term; empty for the lengths of all objects.
    /// - Returns: The cursor.
    /// - Throws: `LogError` if a run cannot be read or does not verify.
    package func postings(in index: IndexDefinition, term: [UInt8]) throws(LogError) -> PostingCursor? {
        guard let state = indexes[index.id] else { return nil }
        do throws(LogError) { return try state.postings(term: term, at: sequence) } catch { throw state.noting(error) }
    }
}

extension IndexState {
    /// A cursor over the objects that have a term at a sequence number, as `Snapshot.postings(in:term:)` returns one.
    ///
    /// - Returns: The cursor, before the first object.
    package func postings(term: [UInt8], at sequence: UInt64) throws(LogError) -> PostingCursor {
        try PostingCursor(self, head: term + [0], at: sequence)
    }
}
