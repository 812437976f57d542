/// The progress of a migration.
public struct MigrationProgress: Sendable, Equatable {
    /// A stage in a migration.
    public struct Stage: Sendable, Equatable {
        /// The version it starts from.
        public let from: String
        /// The version it leads to.
        public let to: String
        /// Its position, from 1.
        public let place: Int
        /// How many stages there are.
        public let count: Int
        /// Whether work of an earlier opening was dropped, because the stage has another revision now, or because
        /// `MigrationOptions.restarts` asked for it; then it is the first stage.
        public let isRestarted: Bool

        /// Describes a stage.
        package init(from: String, to: String, place: Int, count: Int, isRestarted: Bool = false) {
            self.from = from
            self.to = to
            self.place = place
            self.count = count
            self.isRestarted = isRestarted
        }
    }

    /// The current kind of work.
    public let pass: MigrationPass
    /// The current stage; nil for the switch and later passes.
    public let stage: Stage?
    /// The entity whose objects are processed, by its name in the old version, or in the new one during checks; empty
    /// if there is none.
    public let entity: String
    /// The mapping that is processed; nil if there is none.
    public let mapping: String?
    /// Objects done so far, in the pass over this entity; while closures run, objects that they have saved.
    public let done: Int
    /// Objects in all; 0 if the number is unknown.
    public let total: Int
    /// Bytes that this opening's migration has written to the store's files so far.
    public let bytesWritten: Int
    /// Shows how much of the ceiling the engine takes while a migration runs:
    /// `gauge.record(progress.engineBytes)`.
    ///
    /// Bytes of memory that the engine counts now: rows, table pages, blocks of indexes, changes in memory and buffers.
    /// They are part of `MigrationOptions.memoryCeiling`; objects that a stage has not saved yet are not among them.
    public let engineBytes: Int
    /// Objects that the pass does in a second, over this entity, since it began or was resumed; nil until that is
    /// known.
    public let objectsPerSecond: Double?
    /// The estimated time for the rest of this entity at that rate; nil if it is unknown.
    public let timeLeft: Duration?
}
