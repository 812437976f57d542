package import FaultlineStore

extension StageSession {
    /// Makes a context of the stage.
    package func makeCore(_ store: RowStore, _ types: [ModelType], isReadOnly: Bool = false) -> ContextCore {
        let core = ContextCore(store: store, types: types, isReadOnly: isReadOnly, tallies: tallies)
        core.stage = self
        core.rules.spillsLargeValues = !isReadOnly
        core.rules.unsavedBytes = UnsavedBytes(heldByteCountMax: heldByteCountMax)
        return core
    }
}
