public import FaultlineObjects

extension ModelContext {
    /// Makes a context of a container.
    public convenience init(_ container: ModelContainer) {
        let core = container.makeCore()
        if let parts = container.parts {
            self.init(core, over: parts, owner: container)
        } else {
            self.init(core, owner: container)
        }
    }

    /// The container that the context was made from.
    ///
    /// In the closure of a migration stage, the container of its context has the schema of the closure's version.
    /// Contexts made from it see the same objects as the closure, and save into the stage.
    public var container: ModelContainer {
        if let container = owner as? ModelContainer { return container }
        guard let container = (owner as? any ContainerHolder)?.container else {
            preconditionFailure("A context has a container, once its coordinator is set.")
        }
        return container
    }
}
