/// How a save treats a new object whose unique values another object has.
///
///     context.uniquenessConflicts = .error
///     context.insert(User(email: "a@example.com"))
///     do { try context.save() } catch let error as SwiftDataError {
///         let taken = error.findings.filter { $0.rule == .unique }
///     }
///
/// The policy is applied in the writer's turn, to the newest state of the store. A stored object that is given unique
/// values of another one is refused under every policy.
public enum UniquenessPolicy: String, Sendable, Hashable, CaseIterable {
    /// The new object replaces the attributes of the other one: SwiftData's rule, and the default.
    ///
    /// Relationships that the new object does not set stay. If several new objects of one save conflict, the last one
    /// wins.
    case update
    /// Nothing is saved: the save throws a finding with rule `.unique` for each constraint.
    ///
    /// If several new objects of one save conflict, all but the first are findings.
    case error
    /// The new object is left out of the save, and is in no context afterwards.
    ///
    /// New objects that its delete rules would delete with it are left out too; references of other objects to it are
    /// saved as nil, and a required one is a finding. If several new objects of one save conflict, the first one that is
    /// not left out with another is saved. A stored object also keeps unique values that the same save gives it.
    case ignore
}
