import FaultlineDisk

/// Visits the entries of all terms that have a beginning, part by part, without making keys.
struct PostingScan {
    /// Gets a hash of a term, an object, and the bytes of its key behind term and object.
    typealias Body = (_ term: UInt64, _ id: RecordID, _ payload: UnsafeRawBufferPointer) -> Void

    private let prefix: [UInt8]
    private let first: RecordID
    private let limit: UInt64
    private let termCountMax: Int
    private var partCount = 0
    /// Hashes of the terms of each part.
    private var terms: [UInt64] = []
    /// How many terms the part has.
    private var partTermCount = 0
    /// The last term, and the last object that has it.
    private var term: [UInt8] = []
    private var lastID: RecordID = 0

    init(prefix: [UInt8], notBelow first: RecordID, at limit: UInt64, termCountMax: Int) {
        self.prefix = prefix
        self.first = first
        self.limit = limit
        self.termCountMax = termCountMax
    }

    /// The different terms that were met.
    var termCount: Int { partCount > 1 ? Set(terms).count : terms.count }
    /// Whether the part has too many terms, so that the rest of it was not visited.
    var hasTooManyTerms: Bool { partTermCount > termCountMax }

    /// Visits the entries of a run.
    ///
    /// - Returns: False if some of them may not be live.
    mutating func visit(_ run: Run, _ body: Body) throws(LogError) -> Bool {
        beginPart()
        guard run.footer.lastSequence <= limit else { return false }
        let result: Result<RunCursor, LogError> = prefix.withUnsafeBytes { prefix in
            Result { () throws(LogError) in
                try run.cursor(from: prefix, cachedBlockCount: RunPostings.cachedBlockCount(of: run))
            }
        }
        let cursor = try result.get()
        while let list = try cursor.nextGroup() {
            guard prefix.isBeginning(of: list.term.bytes) else { return true }
            guard !list.hasDeletes, !list.hasRepeats, take(list.term.bytes, list.id(0)) else { return false }
            if hasTooManyTerms { return true }
            lastID = list.id(list.count - 1)
            let hash = terms[terms.count - 1]
            for entry in list.first(notBelow: first, from: 0)..<list.count {
                body(hash, list.id(entry), list.payload(entry))
            }
        }
        // Behind the last group are other entries, or none.
        return try !cursor.advance() || !prefix.isBeginning(of: cursor.key.bytes)
    }

    /// Visits the entries of a part of a memtable.
    ///
    /// - Returns: False if some of them may not be live.
    mutating func visit(_ tier: SortedTier, _ body: Body) -> Bool {
        beginPart()
        var place = prefix.withUnsafeBytes { tier.lowerBound($0) }
        while place < tier.count {
            let entry = tier.items[place].entry
            place += 1
            guard prefix.isBeginning(of: entry.bytes) else { break }
            guard entry.isVisible(at: limit) else { continue }
            guard !entry.isDelete, let key = PostingKey(entry.key, entry.keyByteCount, id: entry.id),
                take(UnsafeRawBufferPointer(start: entry.key, count: key.termByteCount), entry.id)
            else { return false }
            if hasTooManyTerms { return true }
            lastID = entry.id
            if entry.id < first { continue }
            body(
                terms[terms.count - 1], entry.id,
                UnsafeRawBufferPointer(start: key.payload, count: key.payloadByteCount))
        }
        return true
    }

    private mutating func beginPart() {
        partCount += 1
        partTermCount = 0
        term.removeAll()
        lastID = 0
    }

    /// Counts a term that is not the last one; returns false for a second entry of an object.
    private mutating func take(_ next: UnsafeRawBufferPointer, _ id: RecordID) -> Bool {
        let isSame = lastID > 0 && term.withUnsafeBytes { KeyBytes.order($0, next) == 0 }
        if isSame { return id > lastID }
        term.removeAll(keepingCapacity: true)
        term.append(contentsOf: next)
        terms.append(IndexHash.hash(next, prefixByteCountMax: .max))
        partTermCount += 1
        return true
    }
}

extension Snapshot {
    /// Visits the entries of all terms that have a beginning, if all are known to be live.
    ///
    /// They are, if no part of the index has a delete among them, or an entry behind the state. Only an entry that two
    /// parts have is visited twice.
    ///
    /// - Parameters:
    ///   - index: A text index.
    ///   - prefix: The beginning; not empty.
    ///   - first: The first object whose entries are wanted.
    ///   - termCountMax: The terms behind which a part is not visited further.
    ///   - body: Gets a hash of a term, an object, and the bytes of its key behind term and object.
    /// - Returns: The number of terms, which may be a little too small because it is made of hashes; nil if the entries,
    ///   of which some were visited, are not known to be live.
    /// - Throws: `LogError` if a run cannot be read or does not verify.
    /// - Complexity: The entries of the terms.
    package func forEachPosting(
        in index: IndexDefinition, prefix: [UInt8], notBelow first: RecordID, termCountMax: Int,
        _ body: (_ term: UInt64, _ id: RecordID, _ payload: UnsafeRawBufferPointer) -> Void
    ) throws(LogError) -> Int? {
        guard let state = indexes[index.id] else { return 0 }
        do throws(LogError) {
            return try state.forEachPosting(
                prefix: prefix, notBelow: first, at: sequence, termCountMax: termCountMax, body)
        } catch { throw state.noting(error) }
    }
}

extension IndexState {
    /// Visits the entries of all terms that have a beginning at a sequence number, as `Snapshot.forEachPosting` does.
    ///
    /// - Returns: The number of terms, or nil, as there.
    package func forEachPosting(
        prefix: [UInt8], notBelow first: RecordID, at sequence: UInt64, termCountMax: Int,
        _ body: (_ term: UInt64, _ id: RecordID, _ payload: UnsafeRawBufferPointer) -> Void
    ) throws(LogError) -> Int? {
        var scan = PostingScan(prefix: prefix, notBelow: first, at: sequence, termCountMax: termCountMax)
        for memtable in [active] + frozen {
            let tiers = prefix.withUnsafeBytes { memtable.tiers(prefix: $0, at: sequence) }
            for tier in tiers {
                guard scan.visit(tier, body) else { return nil }
                if scan.hasTooManyTerms { return scan.termCount }
            }
        }
        for run in runs where run.footer.firstSequence <= sequence {
            guard try scan.visit(run, body) else { return nil }
            if scan.hasTooManyTerms { return scan.termCount }
        }
        return scan.termCount
    }
}
