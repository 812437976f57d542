internal import Faultline
internal import Foundation

extension GraphSession {
    // Fetches of all objects of a class in an order in which no two are equal.

    static var nodes: FetchDescriptor<Node> {
        FetchDescriptor(sortBy: [SortDescriptor(\.number), SortDescriptor(\.key)])
    }
    static var assets: FetchDescriptor<Asset> {
        FetchDescriptor(sortBy: [SortDescriptor(\.number), SortDescriptor(\.key)])
    }
    static var machines: FetchDescriptor<Machine> {
        FetchDescriptor(sortBy: [SortDescriptor(\.number), SortDescriptor(\.key)])
    }

    /// The keys of all objects of a class in a state, in that order.
    static func walked(_ state: GraphState, _ type: any GraphObject.Type) -> [Int] {
        let covered = GraphKind.covers[GraphKind.place(of: type)]
        let nodes = state.nodes.filter { covered[$0.value.kind] && state.isThere($0.key) }
        return nodes.sorted { ($0.value.number, $0.key) < ($1.value.number, $1.key) }.map(\.key)
    }

    func expect(_ name: String, _ found: [Int], _ wanted: [Int]) throws {
        guard found == wanted else { throw GraphViolation("\(name): \(found) instead of \(wanted)") }
    }

    func walkBatches<T: GraphObject>(_ descriptor: FetchDescriptor<T>, _ size: Int) throws {
        let found = try context.fetch(descriptor, batchSize: size)
        moveToNewest()
        try expect("batches", found.map(\.key), Self.walked(view, T.self))
        for object in found where isCompared(object.key) { try compare(object, object.key) }
    }

    /// Walks pages, and encodes each cursor to bytes and back, as a service does for its clients.
    func walkPages<T: GraphObject>(_ descriptor: FetchDescriptor<T>, _ size: Int) throws {
        var keys: [Int] = []
        var cursor: FetchCursor?
        while true {
            let page = try context.fetchPage(descriptor, after: cursor, size: size)
            moveToNewest()
            for object in page.objects where isCompared(object.key) { try compare(object, object.key) }
            keys += page.objects.map(\.key)
            guard !page.isLast, !page.objects.isEmpty else { break }
            cursor = try page.cursor.map {
                try JSONDecoder().decode(FetchCursor.self, from: JSONEncoder().encode($0))
            }
        }
        try expect("pages", keys, Self.walked(view, T.self))
    }

    /// Walks all nodes in the order of their creation; `block` gets the key of each, and the keys of all.
    func enumerate(_ block: (Int, [Int]) throws -> Void) throws {
        moveToNewest()
        let keys = Self.walked(view, Node.self)
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
