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
    private let cursors: UncountedList<AtomCursor>
    private let matcher: LeafMatcher
    /// Evaluates the leaf on the texts of an object whose positions the index does not keep.
    private let verify: (RecordID) throws(StoreError) -> PhraseCounts?
    /// Whether the leaf is one word or prefix, whose positions do not matter.
    private let isSingle: Bool
    /// Whether it is one word or prefix in any field: each object that has it has the leaf.
    private let isWhole: Bool
    /// Whether the current object's places were read.
    private var isRead = false
    /// For each atom: its places in the object at which all atoms stand.
    private let lists: UnsafeMutableBufferPointer<UnsafeBufferPointer<UInt64>>
    /// For each field, each phrase of the leaf: how often the current object has it.
    private let counts: UnsafeMutableBufferPointer<Int>
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
        cursors = UncountedList(atoms.map(\.cursor))
        let places = atoms.enumerated().map { (number, atom) in (atom.place, number) }
        matcher = LeafMatcher(leaf, of: plan, lists: Dictionary(uniqueKeysWithValues: places))
        isSingle = leaf.phrases.count == 1 && plan.phrases[leaf.phrases[0]].atoms.count == 1
        isWhole = isSingle && plan.phrases[leaf.phrases[0]].fields & plan.allFields == plan.allFields
        lists = .allocate(capacity: atoms.count)
        lists.initialize(repeating: UnsafeBufferPointer(start: nil, count: 0))
        counts = .allocate(capacity: plan.fieldCount * leaf.phrases.count)
        counts.initialize(repeating: 0)
    }

    deinit {
        lists.deallocate()
        counts.deallocate()
    }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        var target = id
        while true {
            target = try cursors.agreed(target)
            if target == .max { break }
            if try isFound(target) { break }
            target += 1
        }
        current = target
    }

    /// Whether the object at which all atoms stand has the leaf; counts how often.
    @inline(__always)
    private func isFound(_ id: RecordID) throws(StoreError) -> Bool {
        // Its places are read when they are asked for.
        isRead = !isWhole
        if isWhole { return true }
        return try readPlaces(id)
    }

    /// Reads the places of the atoms in an object; returns whether it has the leaf.
    private func readPlaces(_ id: RecordID) throws(StoreError) -> Bool {
        verified = nil
        var isCut = false
        for place in 0..<cursors.count {
            try cursors.with(place) { (cursor) throws(StoreError) in
                try cursor.readPlaces(wantsPositions: !isSingle)
                lists[place] = cursor.places.all
                if cursor.places.isCut { isCut = true }
            }
        }
        for place in counts.indices { counts[place] = 0 }
        if isSingle { return countWord() }
        if isCut {
            verified = try verify(id)
            return verified != nil
        }
        guard let counts = counts.baseAddress else { return false }
        return matcher.count(in: UnsafeBufferPointer(lists), into: counts)
    }

    private func countWord() -> Bool {
        let fields = plan.phrases[leaf.phrases[0]].fields
        return cursors.with(0) { cursor in
            var isFound = false
            for field in 0..<counts.count where fields >> UInt32(field) & 1 != 0 {
                counts[field] = cursor.places.frequency(field)
                if counts[field] > 0 { isFound = true }
            }
            return isFound
        }
    }

    override func collect(_ id: RecordID, into found: UnsafeMutableBufferPointer<UInt32>) throws(StoreError) {
        guard current == id else { return }
        if !isRead {
            _ = try readPlaces(id)
            isRead = true
        }
        if let verified { return verified.add(to: found) }
        let phraseCount = leaf.phrases.count
        for (place, phrase) in leaf.phrases.enumerated() {
            guard let rank = plan.phrases[phrase].rank else { continue }
            for field in 0..<plan.fieldCount {
                found[rank * plan.fieldCount + field] &+= UInt32(clamping: counts[field * phraseCount + place])
            }
        }
    }
}
