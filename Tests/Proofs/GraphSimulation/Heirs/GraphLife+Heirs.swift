internal import Faultline
internal import FaultlineTestSupport
internal import Foundation

// Changes of the objects of a hierarchy, batches, and undo.

extension GraphLife {
    /// Marks are drawn from so many, so that machines often get one that another has.
    private static let markCount = 12

    /// Sets the mark of an asset, or a value that its class declares.
    func changeAsset(_ session: GraphSession, _ there: [Int]) throws {
        func kind(_ key: Int) -> Int { session.view.nodes[key]?.kind ?? -1 }
        let keys = there.filter { GraphKind.covers[GraphKind.asset][kind($0)] }
        guard let key = keys.randomElement(using: &random) else { return note("nothing") }
        let own = GraphKind.own[kind(key)]
        if own.isEmpty || random.oneIn(2) {
            var mark: Int? = random.oneIn(5) ? nil : random.below(Self.markCount)
            // A new machine would take the place of one that has its mark.
            if mark != nil, GraphKind.covers[GraphKind.machine][kind(key)], session.view.unsaved.contains(key) {
                mark = world.next()
            }
            return try make([.mark(key, mark)], in: session, "mark", "\(key) \(mark ?? -1)") {
                (try session.object(key) as? Asset)?.mark = mark
            }
        }
        let (place, value) = (random.below(own.count), random.below(20))
        try make([.own(key, place: place, value)], in: session, "own value", "\(key) \(place) \(value)") {
            (try session.object(key) as? Asset)?.setOwn(place, to: value)
        }
    }

    /// Deletes the machines of a number, with or without those of its subclass.
    func deleteMachines(_ session: GraphSession) throws {
        let (number, isWhole) = (random.below(20), random.oneIn(2))
        note("delete machines", "\(number) \(isWhole)")
        try session.context.delete(
            model: Machine.self, where: #Predicate { $0.number == number }, includeSubclasses: isWhole)
        session.moveToNewest()
        let keys = session.view.nodes.keys.filter { key in
            guard let node = session.view.nodes[key], session.view.isThere(key), node.number == number else {
                return false
            }
            return isWhole ? GraphKind.covers[GraphKind.machine][node.kind] : node.kind == GraphKind.machine
        }
        session.note(keys.sorted().map { .delete($0) })
    }

    /// Changes or deletes stored objects of a class at once.
    func batch() throws {
        guard session.isUnchanged else { return note("nothing") }
        let type: Asset.Type = random.pick([Asset.self, Machine.self, Crane.self, House.self] as [Asset.Type])
        let (number, value) = (random.below(20), random.below(20))
        if random.oneIn(3) {
            note("batch delete", "\(type) \(number)")
            try session.deleteBatch(type, of: number)
        } else {
            let mark: Int? = random.oneIn(2) ? nil : random.below(Self.markCount)
            note("batch update", "\(type) \(number) \(mark ?? -1) \(value)")
            try session.updateBatch(type, of: number, mark: mark, power: value)
        }
        try session.compareAll()
    }

    /// Makes changes that an undo manager takes back, and makes again, before or after they are saved.
    func undo() throws {
        guard session.isUnchanged, !isLarge else { return note("nothing") }
        note("undo")
        try session.compareAll()
        let (before, manager) = (session.view, UndoManager())
        session.context.undoManager = manager
        defer { session.context.undoManager = nil }
        manager.beginUndoGrouping()
        for _ in 0...random.below(3) { try change(session) }
        // The end of a group applies delete rules.
        if !session.view.deleted.isEmpty {
            guard case .graph = session.view.saved(world.shape) else { return session.rollback() }
            try session.processDeletions()
        }
        manager.endUndoGrouping()
        let changes = session.pending
        try session.compare()
        note("take back", "\(changes.count) changes")
        manager.undo()
        session.take([])
        try session.compareAll()
        guard random.oneIn(2), !changes.isEmpty else { return try endUndo(before) }
        note("make again")
        manager.redo()
        session.take(changes)
        try session.compareAll()
        guard random.oneIn(2), try session.save() else { return session.rollback() }
        note("take back a save")
        manager.undo()
        try session.context.save()
        session.adopt(before)
        try session.compareAll()
    }

    /// Saves nothing, or drops it.
    private func endUndo(_ before: GraphState) throws {
        if random.oneIn(2) {
            try session.context.save()
            session.adopt(before)
            try session.compareAll()
        } else {
            session.rollback()
            try session.compare()
        }
    }
}
