// The part of a context over several stores that a call is about. A context of one store has one state, and finds it by
// one comparison.

extension ModelContext {
    /// Makes a context over several stores.
    ///
    /// - Parameters:
    ///   - settings: A state without objects, which holds the settings.
    ///   - source: The stores.
    ///   - owner: Kept alive by the context.
    package convenience init(_ settings: ContextCore, over source: any ContextSource, owner: AnyObject?) {
        self.init(settings, ContextParts(settings, over: source), owner: owner)
    }

    /// The state that has the objects of a class.
    @inline(__always)
    package func core<T: PersistentModel>(of type: T.Type) -> ContextCore {
        guard let parts else { return core }
        return parts.core(of: T._$modelType)
    }

    /// The state that has the objects of an entity.
    @inline(__always)
    func core(named name: String) -> ContextCore {
        guard let parts else { return core }
        return parts.core(named: name)
    }

    /// The state that has, or would have, the object of an identifier.
    @inline(__always)
    func core(for identifier: PersistentIdentifier) -> ContextCore {
        guard let parts else { return core }
        return parts.core(for: identifier)
    }

    /// The state that an object is in, or that an object of no context would be inserted into.
    @inline(__always)
    func core<T: PersistentModel>(having model: T) -> ContextCore {
        guard let parts else { return core }
        return parts.core(of: ObjectHandle(model))
    }

    /// The states of all stores.
    package var cores: [ContextCore] { parts?.cores ?? [core] }

    /// Changes the state of each store, and that of the settings.
    func onEachState(_ change: (ContextCore) -> Void) {
        change(core)
        parts?.cores.forEach(change)
    }

    /// The state of the one store, for a call about one.
    ///
    /// - Throws: `SeveralStoresError.ofOneStore` for a context over several.
    package func coreOfOneStore(_ call: String) throws -> ContextCore {
        guard parts == nil else { throw SeveralStoresError.ofOneStore(call, "context") }
        return core
    }
}

extension ContextParts {
    /// The parts of a new context.
    package convenience init(_ settings: ContextCore, over source: any ContextSource) {
        self.init(
            settings, changeCount: { source.changeCount }, storesNow: { source.storesNow() },
            enter: { $0.enter($1) }, leave: { $0.leave($1, $2) })
    }
}
