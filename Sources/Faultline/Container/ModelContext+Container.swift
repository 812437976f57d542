public import FaultlineObjects

extension ModelContext {
    /// Makes a context of a container.
    public convenience init(_ container: ModelContainer) {
        self.init(container.makeCore(), owner: container)
    }

    /// The container that the context was made from.
    ///
    /// In the closure of a migration stage, the container of its context has the schema of the closure's version.
    /// Contexts made from it see the same objects as the closure, and save into the stage.
    public var container: ModelContainer {
        guard let container = owner as? ModelContainer else {
            preconditionFailure("Every public context is made from a container.")
        }
        return container
    }
}
