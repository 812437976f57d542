extension ModelContext {
    /// How saves treat new objects whose unique values other objects have.
    ///
    /// Holds for the saves that follow, also for objects that were inserted before. In the closures of migration stages
    /// it has no effect.
    public var uniquenessConflicts: UniquenessPolicy {
        get { core.pending.policies.uniqueness }
        set { onEachState { $0.pending.policies.uniqueness = newValue } }
    }

    /// How saves treat references that were set to objects which are not in the store any more.
    public var danglingReferences: DanglingReferencePolicy {
        get { core.pending.policies.danglingReferences }
        set { onEachState { $0.pending.policies.danglingReferences = newValue } }
    }

    /// Inserts a new object as `insert(_:)` does, with a policy of its own.
    ///
    ///     context.insert(User(email: address), onConflict: .error)
    ///
    /// Objects that it refers to are inserted under the policy of the context. In the closures of migration stages only
    /// `.update` is taken: with another policy the stage fails with `SwiftDataError.modelValidationFailure`.
    ///
    /// - Parameters:
    ///   - model: The object; one that is stored has no use for a policy.
    ///   - policy: The policy of the next save if another object has its unique values.
    /// - Complexity: As `insert(_:)`.
    public func insert<T: PersistentModel>(_ model: T, onConflict policy: UniquenessPolicy) {
        let core = core(having: model)
        ObjectInsertion(core).insert(model: model)
        let handle = ObjectHandle(model)
        guard handle.core.pointee.context === core, handle.core.pointee.has(.inserted) else { return }
        guard core.stage == nil || policy == .update else {
            return core.refuseSave(
                SwiftDataError.modelValidationFailure.explained(
                    "insert(_:onConflict: .\(policy)) was called in a stage of a migration, where objects are inserted with .update alone. Look for the other object first, and decide what becomes of both."
                ))
        }
        // A stage has no other policy, and its context may hold none of the objects.
        guard core.stage == nil else { return }
        core.pending.policies.ofInserts[handle.core.pointee.number] = policy
    }
}
