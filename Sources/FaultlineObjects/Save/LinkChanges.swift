internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

/// The links that a save makes, removes and moves in one link table.
///
/// The links to make are a list in the order of their objects, and are found by binary search: 32 bytes each, where
/// tables of hashes would take 300.
struct LinkChanges {
    /// A link by the numbers of its two objects.
    struct Pair: Hashable, Comparable {
        let left: RecordID
        let right: RecordID

        init(left: RecordID, right: RecordID) {
            self.left = left
            self.right = right
        }

        /// The link between an owner and a member, seen from one side of the table.
        init(_ owner: RecordID, _ member: RecordID, isLeft: Bool) {
            left = isLeft ? owner : member
            right = isLeft ? member : owner
        }

        @inline(__always)
        static func < (one: Self, other: Self) -> Bool {
            one.left != other.left ? one.left < other.left : one.right < other.right
        }
    }

    /// A link that the unsaved changes make or remove.
    struct Wish {
        private static let presentBit: UInt64 = 1 << 63
        private static let searchedBit: UInt64 = 1 << 62

        /// The number of the left object, and two flags above it.
        private var bits: UInt64
        private let right: RecordID

        init(_ pair: Pair, isPresent: Bool, isSearched: Bool) {
            bits = pair.left & ModelCore.numberMask
            right = pair.right
            if isPresent { bits |= Self.presentBit }
            if isSearched { bits |= Self.searchedBit }
        }

        @inline(__always) var pair: Pair { Pair(left: bits & ModelCore.numberMask, right: right) }

        /// Whether the link is to be there after the save.
        var isPresent: Bool { bits & Self.presentBit != 0 }

        /// Whether the store may have it.
        var isSearched: Bool { bits & Self.searchedBit != 0 }

        /// Takes over the flags of another wish for the same link.
        mutating func join(_ other: Wish) { bits |= other.bits }
    }

    let side: LinkSide
    /// Ordinals of the entities that the links lead to.
    let left: Int
    let right: Int
    /// The links to be made, in the order of their objects, which is that of their numbers; before, all wishes.
    private(set) var made: [Wish] = []
    private(set) var removed: Set<Pair> = []
    /// The order keys of the links to be made.
    private var leftOrders: [UInt64] = []
    private var rightOrders: [UInt64] = []
    /// Stored links whose order keys change, with their numbers and keys.
    private(set) var moved: [Pair: Move] = [:]
    /// The number of the first link to be made.
    private(set) var first: RecordID = 0

    /// Other positions of a stored link.
    struct Move {
        let row: RecordID
        var leftOrder: UInt64?
        var rightOrder: UInt64?
    }

    init(_ side: LinkSide, _ entity: Int, _ destination: Int) {
        self.side = side
        left = side.isLeft ? entity : destination
        right = side.isLeft ? destination : entity
    }

    /// The index by the left object.
    var leftIndex: IndexDefinition { side.isLeft ? side.index : side.otherIndex }

    /// The index by the right object.
    var rightIndex: IndexDefinition { side.isLeft ? side.otherIndex : side.index }

    // MARK: Wishes

    mutating func reserve(_ count: Int) { made.reserveCapacity(count) }

    mutating func add(_ wish: Wish) { made.append(wish) }

    /// Sorts the wishes by their objects; two for one link become one, which makes the link if one of them does.
    mutating func sortWishes() {
        made.sort { $0.pair < $1.pair }
        var count = 0
        for place in made.indices {
            if count > 0, made[count - 1].pair == made[place].pair {
                made[count - 1].join(made[place])
            } else {
                made[count] = made[place]
                count += 1
            }
        }
        made.removeLast(made.count - count)
    }

    /// Gives a search the wishes from a place on whose links the store may have, as many as it takes at once.
    ///
    /// - Returns: The place after the last one.
    func search(from start: Int, _ search: inout LinkSearch) -> Int {
        var end = start
        while end < made.count, search.hasRoom {
            if made[end].isSearched { search.add(made[end].pair) }
            end += 1
        }
        return end
    }

    /// Keeps a wish as a link to be made, before those that are looked at still.
    mutating func keep(_ wish: Wish, at place: Int) { made[place] = wish }

    /// Drops the wishes of links that are not to be made.
    mutating func cut(to count: Int) { made.removeLast(made.count - count) }

    mutating func remove(_ pair: Pair) { removed.insert(pair) }

    // MARK: Links to be made

    /// Numbers the links to be made, each at the end of its collections.
    mutating func begin(at first: RecordID) {
        self.first = first
        leftOrders.reserveCapacity(made.count)
        for place in made.indices { leftOrders.append(MemberKey.defaultOrder(of: first + RecordID(place))) }
        rightOrders = leftOrders
    }

    /// The place of a link among those to be made; nil for any other.
    ///
    /// - Complexity: O(log *n*) for the links to be made.
    func place(of pair: Pair) -> Int? {
        let place = made.withUnsafeBufferPointer { $0.partitionPoint { $0.pair < pair } }
        return place < made.count && made[place].pair == pair ? place : nil
    }

    /// Calls `body` with each link to be made, with its number and its order keys.
    func forEachMade(
        _ body: (_ pair: Pair, _ row: RecordID, _ leftOrder: UInt64, _ rightOrder: UInt64) throws -> Void
    ) rethrows {
        for place in made.indices {
            try body(made[place].pair, first + RecordID(place), leftOrders[place], rightOrders[place])
        }
    }

    /// Gives a link to be made a position in one of its two collections.
    mutating func setOrder(at place: Int, _ order: UInt64, isLeft: Bool) {
        if isLeft { leftOrders[place] = order } else { rightOrders[place] = order }
    }

    /// Gives a stored link another position.
    mutating func move(_ pair: Pair, row: RecordID, to order: UInt64, isLeft: Bool) {
        var move = moved[pair] ?? Move(row: row)
        if isLeft { move.leftOrder = order } else { move.rightOrder = order }
        moved[pair] = move
    }
}
