/// The result of writing objects in their new form.
public struct RewriteSummary: Sendable, Equatable {
    /// Objects that were written.
    public let writtenCount: Int
    /// Objects and damaged ranges that could not be written, and stay as they are.
    ///
    /// Damaged objects, damaged ranges that may hide some, and objects that would no longer fit into a record.
    public let leftCount: Int
}
