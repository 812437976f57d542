internal import FaultlineDisk
internal import Synchronization

/// Counts loads by their cause: faults, rows and bytes of large values, with their time, by the fetch that returned the
/// objects, by the relationships that were followed from them, and by a label of the task.
///
/// Set it as `ModelContext.faultAccount`; several contexts may share one. A context without one pays nothing for it.
/// One with it remembers the source of each object it was asked for: some 30 bytes each, until the account is removed.
public final class FaultAccount: Sendable {
    /// The current task's activity, such as `"GET /users"`: entries are grouped by it.
    @TaskLocal public static var label: String?

    /// The source of objects: a fetch, and the relationships that were followed from its results.
    public struct Source: Hashable, Sendable, CustomStringConvertible {
        /// The entity of the objects that were fetched.
        public let entityName: String
        /// File and line of the fetch, such as `"App/Users.swift:12"`; nil if the objects came without a fetch, or by a
        /// fetch before the account was set.
        public let site: String?
        /// The names of the relationships, from the fetched objects on; empty for the fetched objects themselves.
        public let path: [String]

        /// For example `User.team of the fetch at App/Users.swift:12`.
        public var description: String {
            let label = ([entityName] + path).joined(separator: ".")
            return site.map { "\(label) of the fetch at \($0)" } ?? label
        }
    }

    /// The loads for the objects of one source, under one label.
    public struct Entry: Sendable, Equatable {
        /// Where the objects came from.
        public let source: Source
        /// The label of the task that loaded them.
        public let label: String?
        /// The property whose large values were read; nil for rows.
        public let propertyName: String?
        /// How many faults fired.
        public internal(set) var faultCount = 0
        /// How many rows were read for them: neighbours are read ahead.
        public internal(set) var rowCount = 0
        /// Bytes of large values.
        public internal(set) var blobByteCount = 0
        /// How long that took.
        public internal(set) var duration = Duration.zero
    }

    /// One row read for each of many objects, although a fetch could have loaded them all.
    public struct Repetition: Sendable, Equatable, CustomStringConvertible {
        /// The source whose objects were loaded one by one.
        public let source: Source
        /// How many faults fired for them.
        public let faultCount: Int

        /// A call that would have loaded them with the fetch.
        public var remedy: String {
            let path = source.path.joined(separator: ".")
            if source.path.count == 1 {
                return "descriptor.relationshipKeyPathsForPrefetching = [\\.\(path)]"
            }
            return
                "relationshipPathsForPrefetching with the key paths of \(path); for a FetchRequest relationshipKeyPathsForPrefetching = [\"\(path)\"]"
        }

        /// The repeated load, and the remedy.
        public var description: String { "\(faultCount) faults fired one by one for \(source). Use \(remedy)." }
    }

    private struct Key: Hashable {
        let source: Source
        let label: String?
        let propertyName: String?
    }

    private let state = Guarded<[Key: Entry]>([:])

    /// Makes an empty account.
    public init() {}

    /// The loads so far, the most faults first.
    ///
    /// - Complexity: O(n log n) for n entries.
    public var entries: [Entry] {
        state.withLock { Array($0.values) }.sorted {
            ($0.faultCount, $0.blobByteCount, $1.source.description)
                > ($1.faultCount, $1.blobByteCount, $0.source.description)
        }
    }

    /// Relationships that were followed object by object, each of which fired a fault: the pattern known as N+1.
    ///
    /// - Parameter minimum: How many faults make a repetition.
    /// - Returns: The most faults first.
    /// - Complexity: O(n log n) for n entries.
    public func repetitions(minimum: Int = 10) -> [Repetition] {
        var counts: [Source: Int] = [:]
        for entry in entries where !entry.source.path.isEmpty { counts[entry.source, default: 0] += entry.faultCount }
        return counts.filter { $0.value >= minimum }.map { Repetition(source: $0.key, faultCount: $0.value) }.sorted {
            ($0.faultCount, $1.source.description) > ($1.faultCount, $0.source.description)
        }
    }

    /// Resets all counts.
    ///
    /// - Complexity: O(n) for n entries.
    public func reset() { state.withLock { $0.removeAll() } }

    /// The entries, one a line, and the repetitions with their remedies.
    ///
    /// - Complexity: O(n log n) for n entries.
    public var report: String {
        let lines = entries.map { entry in
            let label = entry.label.map { " [\($0)]" } ?? ""
            let property = entry.propertyName.map { ".\($0)" } ?? ""
            return
                "\(entry.faultCount) faults, \(entry.rowCount) rows, \(entry.blobByteCount) bytes, \(entry.duration): "
                + "\(entry.source)\(property)\(label)"
        }
        return (lines + repetitions().map(\.description)).joined(separator: "\n")
    }

    func add(
        _ source: Source, propertyName: String? = nil, _ read: FaultCounters, _ duration: Duration
    ) {
        let key = Key(source: source, label: Self.label, propertyName: propertyName)
        state.withLock { entries in
            var entry = entries[key] ?? Entry(source: source, label: key.label, propertyName: propertyName)
            entry.faultCount += read.faultsFired
            entry.rowCount += read.rowsRead
            entry.blobByteCount += read.blobBytesRead
            entry.duration += duration
            entries[key] = entry
        }
    }
}
