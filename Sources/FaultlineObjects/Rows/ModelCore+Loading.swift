internal import FaultlineStore

extension ModelCore {
    /// A view of the stored row, loaded if necessary; nil if there is none, or if it cannot be read, which is reported
    /// to the context.
    @inline(__always)
    mutating func loadedRow() -> RowView? {
        guard let home = contextHome else { return nil }
        return home._withUnsafeGuaranteedRef { home in
            home.contextReference._withUnsafeGuaranteedRef { context in
                if let row = context.rows.rowInCurrentBlock(row) { return RowArena.view(row) }
                return RowCache(context).load(&self, home)
            }
        }
    }
}
