extension ModelContext {
    /// Sets the hooks for an entity's dynamic objects in this context.
    ///
    /// - Parameters:
    ///   - lifecycle: The hooks; nil for none.
    ///   - name: The entity; if it is unknown, or its objects have a class, the next save throws.
    public func setLifecycle(_ lifecycle: EntityLifecycle?, forEntityNamed name: String) {
        LifecycleCalls(core).setLifecycle(lifecycle, forEntityNamed: name)
    }
}
