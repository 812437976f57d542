internal import FaultlineLog
internal import FaultlineStore

/// Follows the result of a query from one state of the store to the next, by the history of saves.
///
/// It reads the changes between two states at once, however many saves made them, and nothing of the states in between:
/// so a reader that comes seldom costs no memory while it is away. It holds a bit for each object of the result, if
/// there is a predicate.
struct ResultTracker {
    /// Where a stream begins.
    enum Start: Sendable {
        /// With the objects that are stored, as inserted.
        case everything
        /// After the state of a token.
        case after(DefaultHistoryToken)
    }

    /// The objects that a batch is about.
    struct Changes {
        var inserted = NumberSet()
        var updated = NumberSet()
        var deleted = NumberSet()

        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    }

    private let start: Start
    /// The last transaction that was read; nil before the first, and if the history lacks the newest one.
    private(set) var position: HistoryPosition?
    /// The number of the last transaction that was read.
    private var lastNumber: RecordID = 0
    private(set) var hasBegun = false
    /// The objects in the result; nil if they are not known yet, or if all objects are in it.
    private var members: NumberSet?

    init(_ start: Start) { self.start = start }

    /// The changes since the last call.
    ///
    /// - Parameters:
    ///   - query: The result.
    ///   - snapshot: The state of the store, not older than that of the last call.
    ///   - store: The store's identifier.
    /// - Returns: The changes; nil if the result is known as it was.
    /// - Throws: `SwiftDataError.historyTokenExpired` if they cannot be determined.
    mutating func advance(_ query: ResultQuery, in snapshot: Snapshot, of store: String) throws -> Changes? {
        if !hasBegun {
            hasBegun = true
            switch start {
            case .everything:
                var changes = Changes()
                changes.inserted = try query.match(nil)
                if !query.isEverything { members = changes.inserted }
                position = try HistoryPosition.newest(in: snapshot)
                lastNumber = snapshot.nextID(of: .history) - 1
                return changes
            case .after(let token):
                position = token.position(in: store)
                lastNumber = position?.number ?? 0
            }
        }
        try position?.check(in: snapshot)
        let met = try meet(query, in: snapshot)
        guard met.isAnything else {
            if members == nil, !query.isEverything { members = try query.match(nil) }
            return nil
        }
        let changes = try compare(met, query, in: snapshot)
        return changes.isEmpty ? nil : changes
    }

    /// The changes of the history since the last call.
    private struct Met {
        /// Objects of the entity that were changed, and those of them that were inserted.
        var touched = NumberSet()
        var born = NumberSet()
        /// Whether objects were changed that the predicate may read through relationships.
        var haveOthersChanged = false

        var isAnything: Bool { !touched.isEmpty || haveOthersChanged }
    }

    private mutating func meet(_ query: ResultQuery, in snapshot: Snapshot) throws -> Met {
        var met = Met()
        var isFirst = true
        try snapshot.forEachTransaction(after: lastNumber) { transaction in
            // Without the transaction before, only its number shows that none was deleted in between.
            if isFirst, position == nil || lastNumber == 0, transaction.firstNumber != lastNumber + 1 {
                throw Self.gap(after: lastNumber)
            }
            isFirst = false
            try transaction.forEachChange { change in
                if change.table == query.entity.table {
                    for number in change.numbers {
                        met.touched.insert(number)
                        if change.operation == .insert { met.born.insert(number) }
                    }
                }
                if query.otherTables.contains(change.table) { met.haveOthersChanged = true }
            }
            position = HistoryPosition(number: transaction.number, microseconds: transaction.microseconds)
            lastNumber = transaction.number
            return true
        }
        return met
    }

    private static func gap(after number: RecordID) -> SwiftDataError {
        SwiftDataError.historyTokenExpired.explained(
            "The history no longer has the save that followed transaction \(number): it was deleted, or a migration let the history begin anew. Read the stored objects, and begin with the newest token."
        )
    }

    /// Compares the result with the last one.
    private mutating func compare(_ met: Met, _ query: ResultQuery, in snapshot: Snapshot) throws -> Changes {
        if query.isEverything { return try compareAll(met, query, in: snapshot) }
        guard let old = members else { return try compareUnknown(met, query) }
        var changes = Changes()
        if met.haveOthersChanged {
            let now = try query.match(nil)
            now.forEach { number in
                if !old.contains(number) {
                    changes.inserted.insert(number)
                } else if met.touched.contains(number) {
                    changes.updated.insert(number)
                }
            }
            old.forEach { if !now.contains($0) { changes.deleted.insert($0) } }
            members = now
            return changes
        }
        let now = try query.match(met.touched.numbers)
        met.touched.forEach { number in
            switch (old.contains(number), now.contains(number)) {
            case (false, true): changes.inserted.insert(number)
            case (true, true): changes.updated.insert(number)
            case (true, false): changes.deleted.insert(number)
            case (false, false): break
            }
        }
        // The only reference to the set from now on, so that it is not copied.
        members = nil
        var rest = old
        changes.inserted.forEach { rest.insert($0) }
        changes.deleted.forEach { rest.remove($0) }
        members = rest
        return changes
    }

    /// Compares where every object is in the result: those before were the ones that were not inserted since.
    private func compareAll(_ met: Met, _ query: ResultQuery, in snapshot: Snapshot) throws -> Changes {
        var changes = Changes()
        try met.touched.forEach { number in
            let isStored = try !snapshot.location(of: number, in: query.entity.table).isAbsent
            switch (met.born.contains(number), isStored) {
            case (true, true): changes.inserted.insert(number)
            case (false, true): changes.updated.insert(number)
            case (false, false): changes.deleted.insert(number)
            case (true, false): break
            }
        }
        return changes
    }

    /// Compares after a token, where it is not known which objects were in the result: an object that is in it now
    /// counts as updated unless it is new, and one that is not counts as deleted.
    private mutating func compareUnknown(_ met: Met, _ query: ResultQuery) throws -> Changes {
        guard !met.haveOthersChanged else {
            throw SwiftDataError.historyTokenExpired.explained(
                "The predicate reads objects of other entities, and some of these were changed since the token: which objects of \(query.entity.name) satisfied it then is not recorded. Read the stored objects, and begin with the newest token."
            )
        }
        let now = try query.match(nil)
        members = now
        var changes = Changes()
        met.touched.forEach { number in
            switch (met.born.contains(number), now.contains(number)) {
            case (true, true): changes.inserted.insert(number)
            case (false, true): changes.updated.insert(number)
            case (false, false): changes.deleted.insert(number)
            case (true, false): break
            }
        }
        return changes
    }
}

extension NumberSet {
    /// The numbers, ascending.
    fileprivate var numbers: [RecordID] {
        var numbers: [RecordID] = []
        numbers.reserveCapacity(count)
        forEach { numbers.append($0) }
        return numbers
    }
}
