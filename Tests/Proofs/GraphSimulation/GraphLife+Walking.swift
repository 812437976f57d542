internal import Faultline
internal import FaultlineTestSupport

// Walks over a class, and other ways to bring a context to the newest state.

extension GraphLife {
    func walk() throws {
        let scale = isLarge ? 60 : 1
        switch random.below(8) {
        case 0:
            note("refresh all")
            try session.refreshAll()
        case 1:
            note("reset")
            try session.reset()
        case 2: try refreshOne()
        case 3:
            let size = (random.below(5) + 1) * scale
            note("stream", "of \(size)")
            // Saves in between must not be visible.
            let between = { if self.random.oneIn(6 * scale) { try self.saveBeside() } }
            switch random.below(4) {
            case 0: try session.walkStream(GraphSession.assets, size, between: between)
            case 1: try session.walkStream(GraphSession.machines, size, between: between)
            default: try session.walkStream(GraphSession.nodes, size, between: between)
            }
        case _ where session.context.hasChanges: note("nothing")
        case 4:
            let size = (random.below(5) + 1) * scale
            note("batches", "of \(size)")
            switch random.below(4) {
            case 0: try session.walkBatches(GraphSession.assets, size)
            case 1: try session.walkBatches(GraphSession.machines, size)
            default: try session.walkBatches(GraphSession.nodes, size)
            }
        case 5:
            let size = (random.below(7) + 1) * scale
            note("pages", "of \(size)")
            switch random.below(4) {
            case 0: try session.walkPages(GraphSession.assets, size)
            case 1: try session.walkPages(GraphSession.machines, size)
            default: try session.walkPages(GraphSession.nodes, size)
            }
        default:
            note("enumerate")
            // A block may save an object that it reaches later.
            try session.enumerate { _, others in
                guard random.oneIn(2 * scale), !others.isEmpty else { return }
                let (key, number) = (random.pick(others), random.below(20))
                note("number", "\(key) \(number)")
                let object = try session.object(key)
                object.number = number
                session.note([.number(key, number)])
                guard try session.save() else { throw GraphViolation("a number was refused") }
            }
        }
    }

    /// Refreshes an object without unsaved changes; those would be dropped, or kept, together with their other sides.
    private func refreshOne() throws {
        let touched = session.touched.all
        let keys = session.view.nodes.keys.filter {
            session.view.isThere($0) && !session.view.unsaved.contains($0) && !touched.contains($0)
        }
        guard let key = keys.sorted().randomElement(using: &random) else { return note("nothing") }
        note("refresh", "\(key)")
        try session.refresh(key, mergesChanges: random.oneIn(2))
    }
}
