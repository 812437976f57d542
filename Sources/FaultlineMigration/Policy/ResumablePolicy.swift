/// A policy whose stage goes on after a kill where it was, and does not begin again.
///
/// A stage does so if each of its mappings has such a policy, or none, and nothing fails that others are spared of: a dry
/// run and a migration with a quarantine begin again. What was saved is not called for again, and of the calls that were
/// not saved nothing is left; so the policy should depend on nothing but what it is given, and what `resume` brings back.
public protocol ResumablePolicy: EntityMigrationPolicy {
    /// Called in the place of `begin(_:with:)` on the new instance of a mapping whose `begin` has been called before the
    /// kill, and whose `end` has not; by itself does nothing.
    ///
    /// The objects that were made so far can be fetched in the manager's `destinationContext`; its `userInfo` is empty.
    func resume(_ mapping: EntityMapping, with manager: MigrationManager) throws
}

extension ResumablePolicy {
    /// Does nothing: the instance needs no more than `init()` has made of it.
    public func resume(_ mapping: EntityMapping, with manager: MigrationManager) throws {}
}
