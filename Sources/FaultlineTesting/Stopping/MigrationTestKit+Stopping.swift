public import Faultline

extension MigrationTestKit {
    /// The results of stopping a migration at its writes.
    public struct Stops: Sendable, Equatable {
        /// The number of changes of files in the migration: writes, new files, renames and removals.
        public internal(set) var writes = 0
        /// The number of changes at which it was stopped.
        public internal(set) var stops = 0
        /// The number of stops that left the old version in force.
        public internal(set) var old = 0
        /// The number of stops after which the migration resumed instead of beginning again.
        public internal(set) var resumed = 0
        /// The number of stops that left the new version in force.
        public internal(set) var new = 0
    }

    /// Migrates copies of a golden store to another version, each stopped at another write as a kill would stop it, and
    /// opens the remains.
    ///
    /// After each stop the objects must be those of the old version or those of the new one. Opened again with the
    /// plan, they must become those of an undisturbed migration. Every third store that is still old is opened under
    /// the old version first, which abandons the migration. Closures and policies run at each of these openings.
    ///
    /// - Parameters:
    ///   - from: A version of the plan; nil for the oldest.
    ///   - to: A later version; nil for the newest.
    ///   - stride: Stops at each write, or at every second, and so on; at least 1.
    /// - Returns: The number of stops, and their results.
    /// - Throws: `MigrationTestError`: `missing`; `failed` if a store does not open, with the cause; `contentsDiffer`
    ///   if the objects are neither, or become others. The message has the number of the write, which may be another
    ///   one in the next run: the order of threads that write at the same time varies.
    /// - Complexity: O(n) migrations for n stops.
    @discardableResult
    public func stopAtWrites(
        from: (any VersionedSchema.Type)? = nil, to: (any VersionedSchema.Type)? = nil, every stride: Int = 1
    ) throws -> Stops {
        precondition(stride > 0, "At every write, or at every second, and so on.")
        guard let from = from ?? plan.schemas.first, let to = to ?? plan.schemas.last else { return Stops() }
        var run = try StoppedMigration(self, from, to)
        for place in Swift.stride(from: 0, to: run.stops.writes, by: stride) { try run.stop(at: place) }
        return run.stops
    }
}

/// A migration that is stopped at one write after another.
private struct StoppedMigration {
    private let kit: MigrationTestKit
    private let from: any VersionedSchema.Type
    private let to: any VersionedSchema.Type
    private let old: [String]
    private let new: [String]
    var stops = MigrationTestKit.Stops()

    init(
        _ kit: MigrationTestKit, _ from: any VersionedSchema.Type, _ to: any VersionedSchema.Type
    ) throws {
        self.kit = kit
        self.from = from
        self.to = to
        let copy = try kit.copy(of: from)
        old = try Self.contents(copy)
        let disk = StoppingDisk(after: .max)
        do { try StoreDisk.$current.withValue(disk) { try kit.use(copy.store, to) { _ in } } } catch {
            throw MigrationTestError(
                .failed, from: from.versionIdentifier, to: to.versionIdentifier,
                "The golden store of version \(from.versionIdentifier) does not open as \(to.versionIdentifier).",
                cause: error)
        }
        new = try Self.contents(copy)
        stops.writes = disk.changeCount
    }

    private static func contents(_ copy: MigrationTestKit.Copy) throws -> [String] {
        let container = try ModelContainer(opening: ModelConfiguration(url: copy.store))
        defer { try? container.close() }
        return ["\(container.schema.version)"] + (try StoreContents(container).lines)
    }

    mutating func stop(at place: Int) throws {
        let copy = try kit.copy(of: from)
        let disk = StoppingDisk(after: place)
        do { try StoreDisk.$current.withValue(disk) { try kit.use(copy.store, to) { _ in } } } catch {
            // Ignored after a stop: the killed process would not have reported it.
            guard disk.hasStopped else { throw failure(.failed, place, "It fails without being stopped", error) }
        }
        // Helper threads do not write in the same order each time.
        guard disk.hasStopped else { return }
        stops.stops += 1
        let left = try opened(place) { try Self.contents(copy) }
        guard left == old || left == new else {
            throw failure(.contentsDiffer, place, "The objects are neither the old ones nor the new ones")
        }
        if left == old, old != new {
            stops.old += 1
            if stops.old % 3 == 0 {
                try opened(place) { try kit.use(copy.store, from) { _ in } }
                guard try opened(place, { try Self.contents(copy) }) == old else {
                    throw failure(.contentsDiffer, place, "Given up, it leaves other objects than there were")
                }
            }
        } else {
            stops.new += 1
        }
        try opened(place) {
            try kit.use(copy.store, to) { if $0.migrationReport.resumes > 0 { stops.resumed += 1 } }
        }
        let end = try opened(place) { try Self.contents(copy) }
        guard end == new else {
            let line = zip(end, new).first { $0 != $1 }.map { ": \($0) and \($1)" } ?? ""
            throw failure(
                .contentsDiffer, place, "Opened again, it comes to other objects than an undisturbed migration\(line)")
        }
    }

    private func opened<R>(_ place: Int, _ body: () throws -> R) throws -> R {
        do { return try body() } catch {
            throw failure(.failed, place, "The store does not open afterwards", error)
        }
    }

    private func failure(
        _ code: MigrationTestError.Code, _ place: Int, _ what: String, _ cause: (any Error)? = nil
    ) -> MigrationTestError {
        MigrationTestError(
            code, from: from.versionIdentifier, to: to.versionIdentifier,
            "From version \(from.versionIdentifier) to \(to.versionIdentifier), stopped at write \(place + 1) of \(stops.writes): \(what).",
            cause: cause)
    }
}
