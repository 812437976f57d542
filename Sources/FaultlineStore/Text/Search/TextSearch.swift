package import FaultlineLog
internal import FaultlineText

/// Evaluates a query over the stored texts of an entity: by its text index, or by reading all rows where a state has
/// none.
package struct TextSearch {
    private let store: RowStore
    private let snapshot: Snapshot
    private let entity: EntityStorage
    private let index: TextIndex
    private let plan: TextPlan
    /// Objects that are not searched: their unsaved values count instead.
    private let excluded: [RecordID]
    private let excludedSet: Set<RecordID>
    /// By atom of the plan: the postings of a prefix, once they were read.
    private var prefixes: [Int: PrefixPostings] = [:]
    /// Rows that were read.
    package private(set) var rowsRead = 0

    /// - Parameters:
    ///   - plan: The query.
    ///   - index: The index.
    ///   - entity: Its entity.
    ///   - store: The rows.
    ///   - snapshot: The state that is searched.
    ///   - excluded: Objects that are not searched, in any order.
    package init(
        _ plan: TextPlan, by index: TextIndex, of entity: EntityStorage, _ store: RowStore, at snapshot: Snapshot,
        excluding excluded: [RecordID]
    ) {
        self.plan = plan
        self.index = index
        self.entity = entity
        self.store = store
        self.snapshot = snapshot
        self.excluded = excluded.sorted()
        excludedSet = Set(excluded)
    }

    @inline(__always)
    private func isExcluded(_ id: RecordID) -> Bool { !excludedSet.isEmpty && excludedSet.contains(id) }

    private var texts: RowTexts {
        let snapshot = snapshot
        return RowTexts(index) { (reference) throws(StoreError) in try snapshot.bytes(of: reference) }
    }

    /// Whether the state has the index.
    package var hasIndex: Bool { snapshot.has(index.definition) }

    /// Finds the objects that the query selects, in ascending order, but for those that are set aside, which come last.
    ///
    /// - Parameters:
    ///   - ranks: Whether the numbers of a rank are wanted.
    ///   - limit: How many objects are wanted, if they need no rank; nil for all.
    /// - Returns: The objects.
    /// - Throws: `tooLarge` if the beginning of a word stands for too many words; errors of reading.
    /// - Complexity: The entries of the query's words; without an index all rows.
    package mutating func run(ranks: Bool, limit: Int? = nil) throws(TextSearchFailure) -> TextFindings {
        var findings = TextFindings(plan)
        var document = TextDocument(plan, index.analyzer)
        let leaves = try hasIndex ? makeLeaves() : []
        do throws(StoreError) {
            guard hasIndex else {
                try scan(&document, &findings, ranks)
                return findings
            }
            if ranks { findings.totals = try totals() }
            try visit(&findings, leaves, ranks, limit)
            for id in try setAside() where !isExcluded(id) {
                try read(id, into: &document)
                findings.take(document, id, ranks: ranks)
            }
        } catch { throw .store(error) }
        if ranks { try countDocuments(&findings) }
        return findings
    }

    // MARK: By the index

    private mutating func visit(
        _ findings: inout TextFindings, _ leaves: [LeafNode], _ ranks: Bool, _ limit: Int?
    ) throws(StoreError) {
        let root = try node(plan.root, leaves)
        try root.seek(1)
        guard ranks else {
            while root.current != .max {
                if !isExcluded(root.current) {
                    findings.append(root.current)
                    if findings.count >= limit ?? .max { return }
                }
                try root.seek(root.current + 1)
            }
            return
        }
        let lengths = try LengthsNode(of: index, in: snapshot)
        let counts = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: plan.ranked.count * plan.fieldCount)
        defer { counts.deallocate() }
        let freelyCounted = plan.freelyCounted
        let counted = UncountedList(freelyCounted.map { leaves[$0.leaf] })
        while root.current != .max {
            let id = root.current
            if !isExcluded(id) {
                try lengths.seek(id)
                guard lengths.current == id else { throw index.malformed() }
                var length = 0
                try lengths.forEachLength { length += $1 }
                counts.update(repeating: 0)
                try root.collect(id, into: counts)
                findings.append(id, counts, length: length)
                for place in 0..<counted.count where counted.with(place, { $0.current }) == id {
                    findings.countDocuments(rank: freelyCounted[place].rank)
                }
            }
            try root.seek(id + 1)
        }
    }

    private func node(_ node: TextPlan.Node, _ leaves: [LeafNode]) throws(StoreError) -> TextNode {
        switch node {
        case .leaf(let place): return leaves[place]
        case .and(let nodes):
            var parts: [TextNode] = []
            var others: [TextNode] = []
            for node in nodes {
                if case .not(let other) = node {
                    others.append(try self.node(other, leaves))
                } else {
                    parts.append(try self.node(node, leaves))
                }
            }
            if parts.isEmpty { parts.append(try LengthsNode(of: index, in: snapshot)) }
            return AndNode(parts, without: others)
        case .or(let nodes):
            var parts: [TextNode] = []
            for node in nodes { parts.append(try self.node(node, leaves)) }
            return OrNode(parts)
        case .not(let other):
            return AndNode([try LengthsNode(of: index, in: snapshot)], without: [try self.node(other, leaves)])
        case .all: return try LengthsNode(of: index, in: snapshot)
        case .none: return EmptyNode()
        }
    }

    private mutating func makeLeaves() throws(TextSearchFailure) -> [LeafNode] {
        var leaves: [LeafNode] = []
        for place in plan.leaves.indices {
            let reader = self
            leaves.append(
                try leafNode(plan.leaves[place]) { (id) throws(StoreError) -> PhraseCounts? in
                    try reader.document(id).counts(of: place)
                })
        }
        return leaves
    }

    private mutating func leafNode(
        _ leaf: TextPlan.Leaf, verify: @escaping (RecordID) throws(StoreError) -> PhraseCounts?
    ) throws(TextSearchFailure) -> LeafNode {
        var atoms: [LeafNode.Atom] = []
        for place in leaf.phrases.flatMap({ plan.phrases[$0].atoms }) {
            if atoms.contains(where: { $0.place == place }) { continue }
            atoms.append(LeafNode.Atom(place: place, cursor: try cursor(ofAtom: place)))
        }
        return LeafNode(plan, leaf, atoms, verify: verify)
    }

    private mutating func cursor(ofAtom place: Int) throws(TextSearchFailure) -> AtomCursor {
        let term = plan.atoms[place].term
        var postings = prefixes[place]
        if term.isPrefix, postings == nil {
            postings = try PrefixPostings(term, of: index, in: snapshot, store.log.budget)
            prefixes[place] = postings
        }
        do throws(StoreError) {
            if let postings { return try PrefixCursor(postings, of: index) }
            return try TermCursor(term.bytes, of: index, in: snapshot)
        } catch { throw .store(error) }
    }

    /// Counts the objects that have each ranked phrase, beside those that were evaluated without the index, where the
    /// search itself did not.
    private mutating func countDocuments(_ findings: inout TextFindings) throws(TextSearchFailure) {
        let counted = Set(plan.freelyCounted.map(\.rank))
        for (rank, phrase) in plan.ranked.enumerated() where !counted.contains(rank) {
            if let term = plan.wholeTerm(phrase) {
                do throws(StoreError) { findings.countDocuments(try count(of: term), rank: rank) } catch {
                    throw .store(error)
                }
                continue
            }
            let reader = self
            let leaf = try leafNode(TextPlan.Leaf(phrases: [phrase], distance: 0)) {
                (id) throws(StoreError) -> PhraseCounts? in
                try reader.document(id).has(phrase) ? PhraseCounts(reader.plan) : nil
            }
            do throws(StoreError) {
                try leaf.seek(1)
                while leaf.current != .max {
                    if !isExcluded(leaf.current) { findings.countDocuments(rank: rank) }
                    try leaf.seek(leaf.current + 1)
                }
            } catch { throw .store(error) }
        }
    }

    /// The number of objects that have a term, without those that are excluded.
    private func count(of term: [UInt8]) throws(StoreError) -> Int {
        do throws(LogError) {
            guard let all = try snapshot.postings(in: index.definition, term: term) else { return 0 }
            var count = try all.countRest()
            var isMalformed = all.isMalformed
            if !excluded.isEmpty, let cursor = try snapshot.postings(in: index.definition, term: term) {
                for id in excluded where id != 0 {
                    if cursor.id < id { _ = try cursor.advance(notBelow: id) }
                    if cursor.id == id { count -= 1 }
                }
                if cursor.isMalformed { isMalformed = true }
            }
            if !isMalformed { return count }
        } catch { throw StoreError(error) }
        throw index.malformed()
    }

    /// The number of objects and words in the index, without those that are excluded.
    private func totals() throws(StoreError) -> TextTotals {
        var totals: TextTotals
        let objectCount = snapshot.recordCount(of: entity.table)
        if let known = try store.textTotals.find(index, at: snapshot, objectCount: objectCount) {
            totals = known
        } else {
            totals = TextTotals(fieldCount: plan.fieldCount)
            let lengths = try LengthsNode(of: index, in: snapshot)
            var sizes = Array(repeating: 0, count: plan.fieldCount)
            try lengths.seek(1)
            while lengths.current != .max {
                try lengths.forEachLength { sizes[$0] = $1 }
                guard totals.add(sizes) else { throw index.malformed() }
                try lengths.seek(lengths.current + 1)
            }
            store.textTotals.noteCounted(totals, of: index, at: snapshot, objectCount: objectCount)
        }
        guard !excluded.isEmpty else { return totals }
        let lengths = try LengthsNode(of: index, in: snapshot)
        var sizes = Array(repeating: 0, count: plan.fieldCount)
        for id in excluded where id != 0 {
            try lengths.seek(id)
            guard lengths.current == id else { continue }
            try lengths.forEachLength { sizes[$0] = $1 }
            guard totals.remove(sizes) else { throw index.malformed() }
        }
        return totals
    }

    private func setAside() throws(StoreError) -> [RecordID] {
        var ids: [RecordID] = []
        var isMalformed = false
        do throws(LogError) {
            let cursor = try snapshot.cursor(in: index.definition, prefix: [TextTerms.asideMark])
            while let cursor, try cursor.advance() {
                if cursor.key.count != 1 || cursor.id <= ids.last ?? 0 || cursor.id > Limits.recordIDMax {
                    isMalformed = true
                    break
                }
                ids.append(cursor.id)
            }
        } catch { throw StoreError(error) }
        if isMalformed { throw index.malformed() }
        return ids
    }

    // MARK: By rows

    private mutating func scan(
        _ document: inout TextDocument, _ findings: inout TextFindings, _ ranks: Bool
    ) throws(StoreError) {
        var count = 0
        do {
            try snapshot.scan(entity.table, from: 1, through: Limits.recordIDMax, readAhead: 128 << 10) { records in
                for record in records {
                    count += 1
                    if isExcluded(record.id) { continue }
                    try texts.read(try store.view(record, of: entity), into: &document)
                    findings.take(document, record.id, ranks: ranks)
                }
                return true
            }
        } catch let error as LogError { throw StoreError(error) } catch let error as StoreError { throw error } catch {
            throw StoreError(.malformed, "\(error)")
        }
        rowsRead += count
    }

    private func document(_ id: RecordID) throws(StoreError) -> TextDocument {
        var document = TextDocument(plan, index.analyzer)
        var copy = self
        try copy.read(id, into: &document)
        return document
    }

    /// Reads the texts of a stored object.
    private mutating func read(_ id: RecordID, into document: inout TextDocument) throws(StoreError) {
        var buffer = RecordBuffer()
        let record: RecordView?
        do throws(LogError) { record = try snapshot.read(id, in: entity.table, into: &buffer) } catch {
            throw StoreError(error)
        }
        guard let record else { throw index.malformed() }
        rowsRead += 1
        try texts.read(store.view(record, of: entity), into: &document)
    }
}
