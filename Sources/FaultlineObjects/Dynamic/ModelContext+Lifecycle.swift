extension ModelContext {
    /// Sets the hooks for an entity's objects in this context; for those of a model class, hooks beside those of the
    /// class.
    ///
    /// `awakeFromFetch` is called for objects no ephemeral attribute of which was used before.
    ///
    /// - Parameters:
    ///   - lifecycle: The hooks; nil for none.
    ///   - name: The entity; if it is unknown, the next save throws.
    public func setLifecycle(_ lifecycle: EntityLifecycle?, forEntityNamed name: String) {
        LifecycleCalls(core(named: name)).setLifecycle(lifecycle, forEntityNamed: name)
    }
}
