/// How far a migration is.
public struct MigrationProgress: Sendable, Equatable {
    /// A stage among those of a migration.
    public struct Stage: Sendable, Equatable {
        /// The version it leads from.
        public let from: String
        /// The version it leads to.
        public let to: String
        /// Its place, from 1.
        public let place: Int
        /// How many stages there are.
        public let count: Int

        /// Names a stage.
        package init(from: String, to: String, place: Int, count: Int) {
            self.from = from
            self.to = to
            self.place = place
            self.count = count
        }
    }

    /// What is being done.
    public let pass: MigrationPass
    /// The stage under way; nil for the switch and what comes after it.
    public let stage: Stage?
    /// The entity whose objects are worked on, by its name in the old version, or in the new one where what was made is
    /// looked at; empty where it is not one.
    public let entity: String
    /// The mapping that is carried out; nil if none is.
    public let mapping: String?
    /// Objects done so far, of the pass over this entity; while closures run, objects that they have saved.
    public let done: Int
    /// Objects in all; 0 where nobody knows.
    public let total: Int
    /// Bytes that this opening's migration has written to the store's files so far.
    public let bytesWritten: Int
    /// Objects that the pass does in a second, over this entity, since it began or went on; nil until that is known.
    public let objectsPerSecond: Double?
    /// How long the pass will take over the rest of this entity at that rate; nil where nobody knows.
    public let timeLeft: Duration?
}
