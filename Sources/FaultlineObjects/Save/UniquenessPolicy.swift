/// How a save treats a new object whose unique values another object has.
///
///     context.uniquenessConflicts = .error
///     context.insert(User(email: "a@example.com"))
///     do { try context.save() } catch let error as SwiftDataError {
///         let taken = error.findings.filter { $0.rule == .unique }
///     }
///
/// It is decided in the writer's turn, for the newest state of the store. A stored object that is given unique values of
/// another one is refused under every policy.
public enum UniquenessPolicy: String, Sendable, Hashable, CaseIterable {
    /// The new object takes the place of the other one, whose attributes it replaces: SwiftData's rule, and the default.
    ///
    /// Relationships that the new object does not set stay. Of several new objects of one save the last one counts.
    case update
    /// Nothing is saved: the save throws a finding with rule `.unique` for each constraint.
    ///
    /// Of several new objects of one save all but the first are findings.
    case error
    /// The new object is left out of the save, and is in no context afterwards.
    ///
    /// New objects that it would take along when it is deleted are left out with it; references of other objects to it
    /// are saved as nil, and a required one is a finding. Of several new objects of one save the first one is saved.
    case ignore
}
