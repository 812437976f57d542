internal import FaultlineLog
internal import FaultlineStore

/// Loads rows of related objects before the objects are used.
///
/// Makes no object: a row is kept by number, and an object that is made for it later finds it there.
struct RowPrefetcher {
    let context: ContextCore

    @inline(__always)
    init(_ context: ContextCore) { self.context = context }

    @inline(__always) private var rows: RowCache { RowCache(context) }

    /// Loads the prefetched rows of a fetch, in addition to its objects.
    func prefetch<T: PersistentModel>(_ wanted: Prefetching, of objects: [T], _ home: EntityHome) throws {
        let handles = objects.map { ObjectHandle($0) }
        let stored = handles.filter { !$0.core.pointee.has(.temporary) }
        try prefetch(wanted, ofStored: stored.map { $0.core.pointee.number }, home)
        // An unsaved object's members are in memory; the objects it refers to may not be.
        for path in wanted.paths {
            guard let slot = path.first, case .toOne(let relationship)? = home.entity?.slots[slot] else { continue }
            let targets = handles.filter { $0.core.pointee.has(.temporary) }.map { $0.reference(in: slot) }
            try follow(
                path.dropFirst(), from: targets.filter { !$0.isTemporary }.map(\.number),
                context.homes[relationship.destination])
        }
    }

    /// The same for stored objects by number, which may not exist as objects.
    func prefetch(_ wanted: Prefetching, ofStored numbers: [RecordID], _ home: EntityHome) throws {
        if wanted.loadsRows { try rows.keepRows(of: numbers, home) }
        for path in wanted.paths where !path.isEmpty {
            guard let destination = destination(of: path[0], home) else { continue }
            try follow(path.dropFirst(), from: try related(path[0], of: numbers, home), destination)
        }
    }

    /// Loads the rows of objects, and of the objects at the end of a path from them.
    private func follow(_ path: ArraySlice<Int>, from numbers: [RecordID], _ home: EntityHome) throws {
        try rows.keepRows(of: numbers, home)
        guard let slot = path.first, let destination = destination(of: slot, home) else { return }
        try follow(path.dropFirst(), from: try related(slot, of: numbers, home), destination)
    }

    /// The home of the objects that a relationship leads to; nil for an attribute.
    func destination(of slot: Int, _ home: EntityHome) -> EntityHome? {
        switch home.entity?.slots[slot] {
        case .toOne(let relationship): context.homes[relationship.destination]
        case .toMany(let relationship): context.homes[relationship.destination]
        default: nil
        }
    }

    /// The numbers of the stored objects that a relationship of some objects leads to.
    private func related(_ slot: Int, of numbers: [RecordID], _ home: EntityHome) throws -> [RecordID] {
        switch home.entity?.slots[slot] {
        case .toOne:
            try rows.keepRows(of: numbers, home)
            let targets = numbers.compactMap { number -> RecordID? in
                let reference = ObjectReference(bits: storedTarget(slot, of: number, home))
                return reference.isTemporary || reference.isNil ? nil : reference.number
            }
            return Array(Set(targets))
        case .toMany(let relationship):
            var members: Set<RecordID> = []
            for number in Set(numbers) {
                members.formUnion(try MemberReader(context).storedMembers(of: number, relationship))
            }
            return Array(members)
        default: return []
        }
    }

    /// The reference in a to-one slot of an object in memory or of a kept row; 0 for none.
    private func storedTarget(_ slot: Int, of number: RecordID, _ home: EntityHome) -> UInt64 {
        if let handle = ObjectRegistry(context).registeredHandle(number, home) {
            if let draft = handle.core.pointee.draft { return draft.toOne(slot) }
            if let row = rows.loadedRow(handle.core.pointee.row) { return RowArena.view(row).toOne(slot) }
        }
        guard let row = home.prefetchedRows[number].flatMap(rows.loadedRow) else { return 0 }
        return RowArena.view(row).toOne(slot)
    }
}
