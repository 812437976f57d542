package import FaultlineObjects
package import FaultlineStore

/// The store as the contexts of one closure of a custom stage see it: the source of their container.
package final class StageStore: Sendable {
    /// The working copy, under the schema of the closure's version.
    package let store: RowStore
    package let types: [ModelType]
    package let session: StageSession

    init(store: RowStore, types: [ModelType], session: StageSession) {
        self.store = store
        self.types = types
        self.session = session
    }

    /// Makes a context of the closure.
    package func makeCore() -> ContextCore {
        let core = session.makeCore(store, types)
        core.rules.spillsInserts = true
        return core
    }
}
