internal import Faultline
internal import Foundation

extension GraphSession {
    /// Fetches all nodes in an order in which no two are equal.
    static var descriptor: FetchDescriptor<Node> {
        FetchDescriptor<Node>(sortBy: [SortDescriptor(\.number), SortDescriptor(\.key)])
    }

    /// The keys of all nodes that the context should show, in that order.
    private var walked: [Int] { Self.walked(view) }

    /// The keys of all nodes of a state, in that order.
    static func walked(_ state: GraphState) -> [Int] {
        let kind = GraphKind.place(of: Node.self)
        let nodes = state.nodes.filter { $0.value.kind == kind && state.isThere($0.key) }
        return nodes.sorted { ($0.value.number, $0.key) < ($1.value.number, $1.key) }.map(\.key)
    }

    func expect(_ name: String, _ found: [Int], _ wanted: [Int]) throws {
        guard found == wanted else { throw GraphViolation("\(name): \(found) instead of \(wanted)") }
    }

    func walkBatches(_ size: Int) throws {
        let found = try context.fetch(Self.descriptor, batchSize: size)
        moveToNewest()
        try expect("batches", found.map(\.key), walked)
        for object in found where isCompared(object.key) { try compare(object, object.key) }
    }

    /// Walks pages, and encodes each cursor to bytes and back, as a service does for its clients.
    func walkPages(_ size: Int) throws {
        var keys: [Int] = []
        var cursor: FetchCursor?
        while true {
            let page = try context.fetchPage(Self.descriptor, after: cursor, size: size)
            moveToNewest()
            for object in page.objects where isCompared(object.key) { try compare(object, object.key) }
            keys += page.objects.map(\.key)
            guard !page.isLast, !page.objects.isEmpty else { break }
            cursor = try page.cursor.map {
                try JSONDecoder().decode(FetchCursor.self, from: JSONEncoder().encode($0))
            }
        }
        try expect("pages", keys, walked)
    }

    /// Walks all nodes in the order of their creation; `block` gets the key of each, and the keys of all.
    func enumerate(_ block: (Int, [Int]) throws -> Void) throws {
        moveToNewest()
        let keys = walked
        var found: [Int] = []
        try context.enumerate(FetchDescriptor<Node>(), batchSize: 3) { node in
            if isCompared(node.key) { try compare(node, node.key) }
            found.append(node.key)
            try block(node.key, keys)
        }
        try expect("enumerate", found.sorted(), keys.sorted())
    }

    /// Refreshes one object without unsaved changes to the newest state.
    func refresh(_ key: Int, mergesChanges: Bool) throws {
        func bring<T: GraphObject>(_ object: T) { context.refresh(object, mergeChanges: mergesChanges) }
        let object = try object(key)
        bring(object)
        moveToNewest()
        if view.isThere(key) { try compare(object, key) }
    }

    /// Refreshes all objects to the newest state, including the unchanged properties of changed objects.
    func refreshAll() throws {
        context.refreshAllObjects()
        moveToNewest()
        rebase()
        try compare()
    }

    func reset() throws {
        context.reset()
        forgetPending()
        moveToNewest()
        try compare()
    }
}
