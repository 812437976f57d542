internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

extension ModelContainer {
    /// Writes objects that a migration left in an older form in the form of the current schema, all at once.
    ///
    /// A migration that adds, renames, widens or drops attributes takes milliseconds because it writes no object. Each
    /// object is converted whenever it is read, and dropped values leave the store when their object is saved the next
    /// time. An idle store rewrites objects by itself, a few at a time (`StoreOptions.rewritesWhenIdle`). Call this
    /// when the space is needed now, and `compact()` afterwards, which frees it. Contexts can read and save during the
    /// call. No value changes, though observers may be notified. Containers of an older schema in this or another
    /// process cannot read the new form (`StorageError.outdated`), as with any save.
    ///
    /// Durability: an interruption at any time loses no saved data; the next call continues where this one ended.
    /// - Parameter progress: Called after each mebibyte or so with the number of objects written so far.
    /// - Returns: How many objects were written, and how many could not be.
    /// - Complexity: Reads once every object of the entities that had another form; memory for some thousands of
    ///   objects, about a mebibyte.
    /// - Throws: `StorageError` if the store cannot be written, if this container may not write, or if it was or is
    ///   being migrated.
    @discardableResult
    public func rewrite(progress: (_ objects: Int) throws -> Void = { _ in }) throws -> RewriteSummary {
        if let parts {
            var before = RewriteSummary(writtenCount: 0, leftCount: 0)
            _ = try parts.forEachWritable { container in
                let done = try container.rewrite { try progress(before.writtenCount + $0) }
                before = RewriteSummary(
                    writtenCount: before.writtenCount + done.writtenCount, leftCount: before.leftCount + done.leftCount)
            }
            return before
        }
        var job = try StorageError.translating {
            try requireWritable()
            return try RowRewriting(rowStore, where: \.knowsDefaults)
        }
        while try StorageError.translating({ try job.step() }) { try progress(job.report.rowCount) }
        return RewriteSummary(writtenCount: job.report.rowCount, leftCount: job.report.leftCount)
    }
}

/// The result of writing objects in their new form.
public struct RewriteSummary: Sendable, Equatable {
    /// Objects that were written.
    public let writtenCount: Int
    /// Objects and damaged ranges that could not be written, and stay as they are.
    ///
    /// Damaged objects, damaged ranges that may hide some, and objects that would no longer fit into a record.
    public let leftCount: Int
}
