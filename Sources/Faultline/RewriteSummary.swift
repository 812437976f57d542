/// What writing objects in their new form came to.
public struct RewriteSummary: Sendable, Equatable {
    /// Objects that were written.
    public let writtenCount: Int
    /// What could not be, and stays as it is.
    ///
    /// Objects that are damaged, stretches of damage that may hide some, and objects that would not fit into a record any
    /// more.
    public let leftCount: Int
}
