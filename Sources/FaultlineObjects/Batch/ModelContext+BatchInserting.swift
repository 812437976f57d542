// Inserts many new objects at once, without making them.

extension ModelContext {
    /// Inserts new objects of a class, at once, in a transaction of its own: all of them, or none.
    ///
    /// Makes no object, and holds one row at a time, so it can insert any number of them. Properties that a row does
    /// not name have their declared defaults. Uniqueness and rules are enforced as for new objects that are saved.
    /// Under the policy `.update`, a row whose unique values a stored object or an earlier row has becomes an update of
    /// that object; relationships that the row does not set stay. To-one relationships take identifiers of stored
    /// objects, and their other sides follow; an identifier of no stored object is a finding, or counts as nil, as
    /// the context's `danglingReferences` says. Initializers and other code of model classes are not called. Unsaved
    /// changes of this context stay; contexts see the new objects with their next fetch.
    ///
    /// try context.batchInsert(Person.self, lines.lazy.map { ["name": $0.name, "team": team.persistentModelID] })
    ///
    /// The rows are read in the writer's turn: other saves wait for the end, and a save or another batch by the same
    /// thread during that time throws.
    ///
    /// Durability: as a save.
    /// - Parameters:
    ///   - model: The class.
    ///   - rows: The values by name, as `BatchRow.set(_:to:)` takes them.
    ///   - policy: The treatment of a row whose unique values a stored object or an earlier row has; nil for the
    ///     context's `uniquenessConflicts`.
    /// - Returns: How many objects the rows make, how many of them existed before, and how many rows were left out.
    /// - Throws: `SwiftDataError.modelValidationFailure` if rows break a rule: `findings` has all of them, by the
    ///   number of the row; the same for a value that a property cannot have; `.unsupportedKeyPath` for an unknown
    ///   name; the errors of `save`.
    /// - Complexity: O(n) for n rows, and an index entry for each indexed value; memory for one row.
    @discardableResult
    public func batchInsert<T: PersistentModel, Rows: Sequence>(
        _ model: T.Type, _ rows: Rows, onConflict policy: UniquenessPolicy? = nil
    ) throws -> BatchResult where Rows.Element == [String: Any?] {
        let core = core(of: T.self)
        var rows = rows.makeIterator()
        return try core.throwing(runsOthersCode: true) {
            try BatchRunner(core).batchInsert(try core.entity(of: model), policy) {
                Self.fill($0, rows.next())
            }
        }
    }

    /// Inserts new objects of a class; as the form that takes a sequence.
    ///
    /// - Parameters:
    ///   - model: The class.
    ///   - policy: As in the other form.
    ///   - fill: Fills a row with values; false if there are no more rows. An error that it throws ends the insertion:
    ///     nothing is inserted.
    /// - Returns: As the other form.
    /// - Throws: As the other form; the errors of `fill`.
    /// - Complexity: As the other form.
    @discardableResult
    public func batchInsert<T: PersistentModel>(
        _ model: T.Type, onConflict policy: UniquenessPolicy? = nil, fill: (inout BatchRow<T>) throws -> Bool
    ) throws -> BatchResult {
        let core = core(of: T.self)
        return try core.throwing(runsOthersCode: true) {
            try BatchRunner(core).batchInsert(try core.entity(of: model), policy) { values in
                var row = BatchRow<T>(values)
                return try fill(&row)
            }
        }
    }

    /// Inserts new objects of an entity; as the form that takes a class.
    ///
    /// - Throws: As the form that takes a class; `SwiftDataError.unknownSchema` for an unknown entity.
    /// - Complexity: As the form that takes a class.
    @discardableResult
    public func batchInsert<Rows: Sequence>(
        entityName: String, _ rows: Rows, onConflict policy: UniquenessPolicy? = nil
    ) throws -> BatchResult where Rows.Element == [String: Any?] {
        let core = core(named: entityName)
        var rows = rows.makeIterator()
        return try core.throwing(runsOthersCode: true) {
            try BatchRunner(core).batchInsert(try core.entity(named: entityName), policy) { Self.fill($0, rows.next()) }
        }
    }

    /// Inserts new objects of an entity; as the form that takes a class.
    ///
    /// - Throws: As the form that takes a class; `SwiftDataError.unknownSchema` for an unknown entity.
    /// - Complexity: As the form that takes a class.
    @discardableResult
    public func batchInsert(
        entityName: String, onConflict policy: UniquenessPolicy? = nil,
        fill: (inout BatchRow<ManagedObject>) throws -> Bool
    ) throws -> BatchResult {
        let core = core(named: entityName)
        return try core.throwing(runsOthersCode: true) {
            try BatchRunner(core).batchInsert(try core.entity(named: entityName), policy) { values in
                var row = BatchRow<ManagedObject>(values)
                return try fill(&row)
            }
        }
    }

    private static func fill(_ values: BatchValues, _ row: [String: Any?]?) -> Bool {
        guard let row else { return false }
        for (name, value) in row { values.set(name, to: value) }
        return true
    }
}
