internal import FaultlineLog

/// Visits the objects that have a leaf.
final class LeafNode: TextNode {
    /// An atom of the leaf.
    struct Atom {
        /// Its place in the plan.
        let place: Int
        let cursor: AtomCursor
    }

    private let plan: TextPlan
    private let leaf: TextPlan.Leaf
    /// The different atoms of the leaf's phrases.
    private let cursors: [AtomCursor]
    /// For each atom of the plan: its place in `cursors`; 0 for others than the leaf's.
    private var placesByAtom: [Int]
    /// Evaluates the leaf on the texts of an object whose positions the index does not keep.
    private let verify: (RecordID) throws(StoreError) -> PhraseCounts?
    /// Whether the leaf is one word or prefix, whose positions do not matter.
    private let isSingle: Bool
    /// Whether it is one word or prefix in any field: each object that has it has the leaf.
    private let isWhole: Bool
    /// Whether the current object's places were read.
    private var isRead = false
    /// For each atom: its places in the object at which all atoms stand.
    private var places: [AtomPlaces]
    /// For each field, each phrase of the leaf: how often the current object has it.
    private var counts: [Int]
    /// The counts of an object that was verified.
    private var verified: PhraseCounts?

    /// - Parameters:
    ///   - plan: The query.
    ///   - leaf: A leaf of it.
    ///   - atoms: Cursors for the different atoms of its phrases.
    ///   - verify: Evaluates the leaf on the texts of an object.
    init(
        _ plan: TextPlan, _ leaf: TextPlan.Leaf, _ atoms: [Atom],
        verify: @escaping (RecordID) throws(StoreError) -> PhraseCounts?
    ) {
        self.plan = plan
        self.leaf = leaf
        self.verify = verify
        cursors = atoms.map(\.cursor)
        placesByAtom = Array(repeating: 0, count: plan.atoms.count)
        for (number, atom) in atoms.enumerated() { placesByAtom[atom.place] = number }
        isSingle = leaf.phrases.count == 1 && plan.phrases[leaf.phrases[0]].atoms.count == 1
        let all = UInt32.max >> UInt32(32 - min(max(plan.fieldCount, 1), 32))
        isWhole = isSingle && plan.phrases[leaf.phrases[0]].fields & all == all
        places = atoms.map { _ in AtomPlaces(fieldCount: plan.fieldCount) }
        counts = Array(repeating: 0, count: plan.fieldCount * leaf.phrases.count)
    }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        var target = id
        while true {
            let wanted = target
            for cursor in cursors {
                try cursor.seek(target)
                target = max(target, cursor.current)
            }
            if target == .max {
                current = .max
                return
            }
            // Until all atoms stand at one object.
            if cursors.count > 1, target != wanted { continue }
            if try isFound(target) {
                current = target
                return
            }
            target += 1
        }
    }

    /// Whether the object at which all atoms stand has the leaf; counts how often.
    private func isFound(_ id: RecordID) throws(StoreError) -> Bool {
        verified = nil
        // Its places are read when they are asked for.
        isRead = !isWhole
        if isWhole { return true }
        return try readPlaces(id)
    }

    /// Reads the places of the atoms in an object; returns whether it has the leaf.
    private func readPlaces(_ id: RecordID) throws(StoreError) -> Bool {
        var isCut = false
        for (place, cursor) in cursors.enumerated() {
            try cursor.read(wantsPositions: !isSingle, into: &places[place])
            if places[place].isCut { isCut = true }
        }
        for place in counts.indices { counts[place] = 0 }
        if isSingle { return countWord() }
        if isCut {
            verified = try verify(id)
            return verified != nil
        }
        var isFound = false
        let phraseCount = leaf.phrases.count
        for field in 0..<plan.fieldCount where places[0].frequencies[field] > 0 {
            let hasLeaf = plan.forEachCount(
                of: leaf, field: field, { places[placesByAtom[$0]].positions[field] },
                { counts[field * phraseCount + $0] = $1 })
            if hasLeaf { isFound = true }
        }
        return isFound
    }

    private func countWord() -> Bool {
        let fields = plan.phrases[leaf.phrases[0]].fields
        var isFound = false
        for field in 0..<plan.fieldCount where fields >> UInt32(field) & 1 != 0 {
            counts[field] = places[0].frequencies[field]
            if counts[field] > 0 { isFound = true }
        }
        return isFound
    }

    override func collect(_ id: RecordID, into found: inout PhraseCounts) throws(StoreError) {
        guard current == id else { return }
        if !isRead {
            _ = try readPlaces(id)
            isRead = true
        }
        if let verified { return found.add(verified) }
        let phraseCount = leaf.phrases.count
        for (place, phrase) in leaf.phrases.enumerated() {
            guard let rank = plan.phrases[phrase].rank else { continue }
            for field in 0..<plan.fieldCount where counts[field * phraseCount + place] > 0 {
                found.add(counts[field * phraseCount + place], rank: rank, field: field)
            }
        }
    }
}
