/// A file or directory of a simulated disk, by its index in the tables.
enum SimulatedNode: Hashable, Sendable {
    case file(Int)
    case directory(Int)
}

/// The entries of one directory.
struct SimulatedDirectory: Sendable {
    var current: [String: SimulatedNode] = [:]
    var durable: [String: SimulatedNode] = [:]
}

/// A creation, removal or rename that no synchronization of its directory has covered yet.
struct PendingEntryChange: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let directory: Int
        let name: String
    }

    /// The entry that is removed; nil for a creation.
    let source: Entry?
    /// The entry that is added; nil for a removal.
    let target: Entry?
    let node: SimulatedNode
    /// The directories whose synchronization is still needed: one, or two for a rename between directories.
    var waiting: [Int]

    /// Whether this change cannot be on disk without `earlier`.
    ///
    /// A name's history is in order. So is a file's, since every change of a file's entry begins at the name from its
    /// previous change (soft updates' rule that no file loses its only name). And a directory is not removed before its
    /// entries.
    func dependsOn(_ earlier: PendingEntryChange) -> Bool {
        for entry in [source, target] {
            guard let entry else { continue }
            if entry == earlier.source || entry == earlier.target { return true }
        }
        if target == nil, case .directory(let removed) = node {
            return earlier.source?.directory == removed || earlier.target?.directory == removed
        }
        return false
    }
}

/// The whole content of a simulated disk: a value, so that an image is a copy that shares every page.
struct SimulatedState: Sendable {
    var files: [SimulatedFile] = []
    var freeFiles: [Int] = []
    /// The first is the root.
    ///
    /// Removed directories keep their index.
    var directories: [SimulatedDirectory] = [SimulatedDirectory()]
    /// In order.
    var pending: [PendingEntryChange] = []
    /// The number of power losses before.
    var startCount = 0

    // MARK: paths

    static func components(_ path: String) -> [Substring] {
        // Splits bytes, not characters, which takes less time: simulations look up paths all the time.
        path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }.filter { $0 != "." }
    }

    /// The node at a path; nil if there is none.
    ///
    /// Sets `isBlocked` if a component before the last is a file.
    func node(at path: String, isBlocked: inout Bool) -> SimulatedNode? {
        var node = SimulatedNode.directory(0)
        for component in Self.components(path) {
            guard case .directory(let directory) = node else {
                isBlocked = true
                return nil
            }
            guard let next = directories[directory].current[String(component)] else { return nil }
            node = next
        }
        return node
    }

    // MARK: entries

    mutating func change(source: PendingEntryChange.Entry?, target: PendingEntryChange.Entry?, node: SimulatedNode) {
        if let source { directories[source.directory].current[source.name] = nil }
        if let target {
            directories[target.directory].current[target.name] = node
        }
        var waiting: [Int] = []
        for entry in [source, target] {
            if let entry, !waiting.contains(entry.directory) { waiting.append(entry.directory) }
        }
        pending.append(
            PendingEntryChange(source: source, target: target, node: node, waiting: waiting))
    }

    static func apply(_ change: PendingEntryChange, to directories: inout [SimulatedDirectory]) {
        if let source = change.source, directories[source.directory].durable[source.name] == change.node {
            directories[source.directory].durable[source.name] = nil
        }
        if let target = change.target { directories[target.directory].durable[target.name] = change.node }
    }

    /// Makes the entries of one directory durable, with every earlier change that they depend on.
    mutating func synchronize(directory: Int) {
        var isDurable = [Bool](repeating: false, count: pending.count)
        for index in pending.indices {
            pending[index].waiting.removeAll { $0 == directory }
            isDurable[index] = pending[index].waiting.isEmpty
        }
        for later in pending.indices.reversed() where isDurable[later] {
            for earlier in 0..<later where !isDurable[earlier] && pending[later].dependsOn(pending[earlier]) {
                isDurable[earlier] = true
            }
        }
        var rest: [PendingEntryChange] = []
        for (index, change) in pending.enumerated() {
            if isDurable[index] { Self.apply(change, to: &directories) } else { rest.append(change) }
        }
        pending = rest
        reclaim()
    }

    // MARK: files

    mutating func addFile() -> Int {
        if let free = freeFiles.popLast() {
            files[free] = SimulatedFile()
            return free
        }
        files.append(SimulatedFile())
        return files.count - 1
    }

    /// Frees the files that no entry, no pending change and no handle can reach any more; their numbers are used again.
    mutating func reclaim() {
        var isReachable = files.map { $0.handleCount > 0 || $0.isFree }
        func keep(_ node: SimulatedNode?) {
            if case .file(let file)? = node { isReachable[file] = true }
        }
        for directory in directories {
            for node in directory.current.values { keep(node) }
            for node in directory.durable.values { keep(node) }
        }
        for change in pending {
            keep(change.node)
        }
        for file in files.indices where !isReachable[file] {
            files[file] = SimulatedFile()
            files[file].isFree = true
            freeFiles.append(file)
        }
    }

    /// Bytes of files with an entry or an open handle.
    var byteCount: Int {
        var isTaken = files.map { $0.handleCount > 0 }
        for directory in directories {
            for case .file(let file) in directory.current.values { isTaken[file] = true }
        }
        return files.indices.reduce(0) { isTaken[$1] ? $0 + files[$1].allocatedByteCount : $0 }
    }
}
