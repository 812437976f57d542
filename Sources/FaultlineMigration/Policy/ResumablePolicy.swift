/// A policy whose stage resumes after a kill, instead of restarting.
///
/// A stage does so if each of its mappings has such a policy, or none, and it does not continue after failed objects: a
/// dry run and a migration with a quarantine restart. Calls for saved objects are not repeated, and unsaved results are
/// lost; so the policy should depend only on its arguments, and on state that `resume` restores.
public protocol ResumablePolicy: EntityMigrationPolicy {
    /// Called instead of `begin(_:with:)` on the new instance of a mapping whose `begin` was called before the kill,
    /// and whose `end` was not; the default does nothing.
    ///
    /// The new objects so far can be fetched in the manager's `destinationContext`; its `userInfo` is empty.
    ///
    /// - Throws: An error stops the migration.
    func resume(_ mapping: EntityMapping, with manager: MigrationManager) throws
}

extension ResumablePolicy {
    /// Does nothing: `init()` has restored the instance.
    ///
    /// - Throws: Nothing.
    public func resume(_ mapping: EntityMapping, with manager: MigrationManager) throws {}
}
