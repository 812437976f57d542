internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

extension ModelContainer {
    /// Writes objects that a migration left as they were in the form that the schema gives them now, all at once.
    ///
    /// A migration that adds, renames, widens or drops attributes takes milliseconds because it writes no object: each is
    /// converted whenever it is read, and what was dropped leaves the store when its object is saved the next time. An
    /// idle store does that by itself, a little at a time (`StoreOptions.rewritesWhenIdle`); this is for moments at which
    /// the space is needed, with `compact()` behind it, which gives it back. Contexts read and save meanwhile; no value
    /// changes, though objects that are watched may be told so. Containers of an older schema in this or another process
    /// cannot read what was written (`StorageError.outdated`), as with any save.
    ///
    /// Durability: nothing that was saved is lost by it, whenever it is cut short; the next call goes on where it ended.
    /// - Parameter progress: Called after each mebibyte or so with the number of objects written so far.
    /// - Returns: How many objects were written, and how many could not be.
    /// - Complexity: Reads every object of entities that were of another form once; memory for some thousands of them, a
    ///   mebibyte or so.
    /// - Throws: `StorageError` if the store cannot be written, or this container may not, or it was or is being migrated.
    @discardableResult
    public func rewrite(progress: (_ objects: Int) throws -> Void = { _ in }) throws -> RewriteSummary {
        var job = try StorageError.translating {
            try requireWritable()
            return try RowRewriting(rowStore, where: \.knowsDefaults)
        }
        while try StorageError.translating({ try job.step() }) { try progress(job.report.rowCount) }
        return RewriteSummary(writtenCount: job.report.rowCount, leftCount: job.report.leftCount)
    }
}
