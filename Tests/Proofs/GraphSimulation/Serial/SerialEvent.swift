/// One operation of a context in a serial life, as its file records it: a line of words and numbers.
struct SerialEvent: Equatable {
    enum Kind: String {
        /// Key, class, key of the target.
        case insert
        /// Key, name, `SerialUniqueness`: a new object with a unique name.
        case name
        /// The merge policy of the context.
        case policy
        /// Key, slot, number.
        case set
        /// Key, key of the target.
        case refer
        /// Key.
        case delete
        /// Number of the transaction.
        case save
        case rollback, refresh, reset
        /// A rule that the save breaks, of those before `refuse`: `SerialRule`, key.
        case finding
        /// A save that is refused. The newest published transactions before it and after it.
        case refuse
        /// A fetch by key. Floor, class, key, objects found.
        case find
        /// A fetch of a class. Floor, class, objects found, digest of their numbers.
        case all
        /// A page of a class in the order of keys. Floor, class, key before it, objects found, digest of their keys.
        case page
        /// A stream of a class. Floor, the newest transaction after its first batch, class, objects found, digest of their
        /// numbers.
        case stream
        /// Key, slot, number.
        case read
        /// Key, key of the target.
        case target
        /// Key, members, digest of their keys.
        case members
    }

    let kind: Kind
    let thread: Int
    /// The number of the transaction whose state the context shows after the operation.
    let snapshot: Int
    let numbers: [Int]

    init(_ kind: Kind, thread: Int, snapshot: Int, _ numbers: [Int]) {
        self.kind = kind
        self.thread = thread
        self.snapshot = snapshot
        self.numbers = numbers
    }

    /// Reads a line; nil if it is invalid.
    init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count >= 3, let kind = Kind(rawValue: String(words[0])), let thread = Int(words[1]),
            let snapshot = Int(words[2])
        else { return nil }
        let numbers = words.dropFirst(3).compactMap { Int($0) }
        guard numbers.count == words.count - 3, numbers.count == kind.count, thread >= 0 else { return nil }
        self.init(kind, thread: thread, snapshot: snapshot, numbers)
    }

    var line: String {
        ([kind.rawValue] + ([thread, snapshot] + numbers).map(String.init)).joined(separator: " ")
    }
}

extension SerialEvent.Kind {
    /// Whether the context shows the newest state from then on.
    ///
    /// In between the store may take its snapshot away.
    var movesContextOn: Bool {
        switch self {
        case .save, .refuse, .reset, .refresh, .find, .all, .page: true
        default: false
        }
    }

    /// How many numbers a line has.
    fileprivate var count: Int {
        switch self {
        case .rollback, .refresh, .reset: 0
        case .delete, .save, .policy: 1
        case .refer, .target, .finding, .refuse: 2
        case .insert, .name, .set, .read, .members: 3
        case .find, .all: 4
        case .page, .stream: 5
        }
    }
}
