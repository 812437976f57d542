/// The kind of a migration's current work: its stages consist of some of these, in this order.
public enum MigrationPass: String, Codable, CaseIterable, Sendable {
    /// Rows are copied, so that the closures of a custom stage can change them.
    case copying
    /// The closures of a custom stage run.
    case closures
    /// New objects are made: by the closures of a streamed stage, or in the first pass of a mapped one.
    case instances
    /// New objects are related: the second pass of a mapped stage.
    case relationships
    /// Indexes are built over existing rows.
    case indexes
    /// The new objects are checked: the third pass of a mapped stage.
    case validation
    /// The new schema comes into force.
    case switching
    /// Data that is no longer needed is deleted.
    case reclaiming
}
