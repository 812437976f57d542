internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

/// Finds the rows of the members of a to-many relationship.
final class RowMembers {
    private static let pageSize = 256

    private let found: RelatedRows
    private let source: RowCursor
    private let index: IndexDefinition
    private let before: RowTarget.Before?
    private let snapshot: Snapshot
    /// Nil if every entry of the index has an object.
    private let existing: ReferenceTargets?
    /// The last owner and the number of its members, because many objects lead to one owner.
    private var lastCount: (owner: RecordID, count: Int)?
    /// The last owner and its first members.
    private var firstPage: (owner: RecordID, page: MemberPage)?

    init(
        _ found: RelatedRows, of source: RowCursor, _ index: IndexDefinition, after before: RowTarget.Before?,
        in snapshot: Snapshot
    ) {
        self.found = found
        self.source = source
        self.index = index
        self.before = before
        self.snapshot = snapshot
        existing = ReferenceTargets(in: found.cursor.entity.table, of: snapshot, without: [])
    }

    /// The row of a member.
    var cursor: RowCursor { found.cursor }

    /// The same members, found by a cursor of its own.
    var withOwnCursor: RowMembers {
        RowMembers(found.withOwnCursor, of: source, index, after: before, in: snapshot)
    }

    /// How many members are in the store.
    func count() throws -> Int {
        let owner = try owner()
        if let lastCount, lastCount.owner == owner { return lastCount.count }
        var count = 0
        try forEachNumber(of: owner) { _ in
            count += 1
            return true
        }
        lastCount = (owner, count)
        return count
    }

    func isEmpty() throws -> Bool {
        var isEmpty = true
        try forEachNumber(of: try owner()) { _ in
            isEmpty = false
            return false
        }
        return isEmpty
    }

    /// Moves the cursor to the row of each member, in their order, until `body` returns false.
    func forEachRow(_ body: () throws -> Bool) throws {
        let owner = try owner()
        var page = firstPage.flatMap { $0.owner == owner ? $0.page : nil } ?? MemberPage()
        if page.isNew {
            try snapshot.readMembers(of: owner, in: index, next: Self.pageSize, &page)
            firstPage = (owner, page)
        }
        while true {
            // The index is not held while rows are read.
            for number in page.numbers where try found.move(to: number) {
                guard try body() else { return }
            }
            if page.isLast { return }
            try snapshot.readMembers(of: owner, in: index, next: Self.pageSize, &page)
        }
    }

    /// The owner, which must be there.
    private func owner() throws -> RecordID {
        _ = try before?.find()
        return source.number
    }

    private func forEachNumber(of owner: RecordID, _ body: (RecordID) throws -> Bool) throws {
        try MemberKey.withPrefix(owner: owner) { prefix in
            try snapshot.forEachEntry(in: index, prefix: prefix) { key, row in
                found.cursor.home.context.reports.walked.indexEntries += 1
                guard let number = MemberKey.member(key, id: row) else { return true }
                if existing?.isGone(number) == true { return true }
                return try body(number)
            }
        }
        try existing?.check()
    }
}

/// The members of a to-many relationship that satisfy a condition.
struct SelectedMembers {
    let members: RowMembers
    /// Nil for all members.
    var test: CheckedExpression<Bool>?
    /// An optional relationship that leads to their owner; without an object there the members are nil.
    var owner: RowTarget?

    /// All members, found by a cursor of its own; nil if a condition is bound to this one's cursor.
    var withOwnCursor: SelectedMembers? {
        test == nil ? SelectedMembers(members: members.withOwnCursor) : nil
    }

    func count(_ bindings: PredicateBindings) throws -> Int {
        guard let test else { return try members.count() }
        var count = 0
        try members.forEachRow {
            if try test.value(bindings) { count += 1 }
            return true
        }
        return count
    }

    func isEmpty(_ bindings: PredicateBindings) throws -> Bool {
        try test == nil ? members.isEmpty() : !contains(bindings) { true }
    }

    /// Whether one of them, whose row the cursor has, satisfies a condition.
    func contains(_ bindings: PredicateBindings, where isWanted: () throws -> Bool) throws -> Bool {
        var isFound = false
        try members.forEachRow {
            isFound = try test?.value(bindings) ?? true && isWanted()
            return !isFound
        }
        return isFound
    }
}

/// A node whose value is members of a to-many relationship.
protocol RowMembersNode {
    /// Nil if the value is another one.
    func members(in rows: RowScope) -> SelectedMembers?
}

extension PredicateExpressions.KeyPath: RowMembersNode {
    func members(in rows: RowScope) -> SelectedMembers? {
        guard rows.hasStoredMembers, let (source, before) = owner(in: rows),
            let slot = source.home.type?.slots[keyPath],
            case .toMany(let relationship) = source.entity.slots[slot],
            let found = rows.rows(ofDestination: relationship.destination)
        else { return nil }
        return SelectedMembers(
            members: RowMembers(found, of: source, relationship.members.index, after: before, in: rows.snapshot))
    }
}

extension PredicateExpressions.Variable: RowMembersNode {
    func members(in rows: RowScope) -> SelectedMembers? { rows.members(of: key) }
}

extension PredicateExpressions.OptionalFlatMap: RowMembersNode {
    func members(in rows: RowScope) -> SelectedMembers? {
        guard let inner = transform as? any RowMembersNode,
            let owner = (wrapped as? any RowTargetNode)?.target(in: rows)
        else { return nil }
        rows.bind(variable.key, to: owner.cursor)
        guard var selected = inner.members(in: rows), selected.owner == nil else { return nil }
        selected.owner = owner
        return selected
    }
}

extension PredicateExpressions.Filter: RowMembersNode {
    func members(in rows: RowScope) -> SelectedMembers? {
        guard var selected = (sequence as? any RowMembersNode)?.members(in: rows) else { return nil }
        rows.bind(variable.key, to: selected.members.cursor)
        let test = CheckedExpression<Bool>.make(filter, rows)
        if let first = selected.test {
            selected.test = CheckedExpression(first.arithmeticCount + test.arithmeticCount) {
                try first.value($0) && test.value($0)
            }
        } else {
            selected.test = test
        }
        return selected
    }
}
