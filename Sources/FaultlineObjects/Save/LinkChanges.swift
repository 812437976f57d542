internal import FaultlineLog
internal import FaultlineStore

/// The links that a save makes, removes and moves in one link table.
struct LinkChanges {
    /// A link by the numbers of its two objects.
    struct Pair: Hashable {
        let left: RecordID
        let right: RecordID

        /// The link between an owner and a member, seen from one side of the table.
        init(_ owner: RecordID, _ member: RecordID, isLeft: Bool) {
            left = isLeft ? owner : member
            right = isLeft ? member : owner
        }
    }

    let side: LinkSide
    /// Ordinals of the entities that the links lead to.
    let left: Int
    let right: Int
    /// Links to be made, in the order of their numbers.
    private(set) var made: [Pair] = []
    private(set) var removed: Set<Pair> = []
    /// Numbers of the links to be made.
    private(set) var rows: [Pair: RecordID] = [:]
    private(set) var leftOrders: [Pair: UInt64] = [:]
    private(set) var rightOrders: [Pair: UInt64] = [:]
    /// Stored links whose order keys change, with their numbers.
    private(set) var moved: [Pair: RecordID] = [:]
    /// The number of the first link to be made.
    private(set) var first: RecordID = 0

    init(_ side: LinkSide, _ entity: Int, _ destination: Int) {
        self.side = side
        left = side.isLeft ? entity : destination
        right = side.isLeft ? destination : entity
    }

    /// The index by the left object.
    var leftIndex: IndexDefinition { side.isLeft ? side.index : side.otherIndex }

    /// The index by the right object.
    var rightIndex: IndexDefinition { side.isLeft ? side.otherIndex : side.index }

    mutating func make(_ pair: Pair) { made.append(pair) }

    mutating func remove(_ pair: Pair) { removed.insert(pair) }

    /// Numbers the links to be made.
    mutating func begin(at first: RecordID) {
        self.first = first
        for (position, pair) in made.enumerated() { rows[pair] = first + RecordID(position) }
    }

    /// Gives a link a position in one of its two collections.
    mutating func setOrder(_ pair: Pair, _ order: UInt64, isLeft: Bool) {
        if isLeft { leftOrders[pair] = order } else { rightOrders[pair] = order }
    }

    /// Gives a stored link another position.
    mutating func move(_ pair: Pair, row: RecordID, to order: UInt64, isLeft: Bool) {
        setOrder(pair, order, isLeft: isLeft)
        moved[pair] = row
    }
}
