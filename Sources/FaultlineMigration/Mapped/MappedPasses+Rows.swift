internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

// The first pass over a mapping that makes rows, without objects.

extension MappedPasses {
    /// Makes the rows of all new objects of a mapping, and saves them.
    func makeRows(_ mapping: ResolvedMapping, _ conversion: RowConversion, of source: String, total: Int) throws {
        stage.conversion = conversion
        defer { stage.conversion = nil }
        try stage.source.forEachStoredRow(
            entityNamed: source, where: mapping.mapping.sourceFilter, after: stage.progress.lastDone,
            skipped: { try advance(mapping, of: total, pass: 0) }
        ) { row, number in
            try explaining(mapping, source) {
                stage.begin(number)
                guard try conversion.append(row, number) else { throw Refused() }
                conversion.forEachBlobOfLast { stage.move($0, of: source) }
                course.countRead()
                course.countMade(by: mapping.mapping.name)
                stage.reach(number)
                try stage.flushIfFull()
            }
            try advance(mapping, of: total, pass: 0)
        }
        if conversion.count > 0 { try explaining(mapping, source) { try stage.flush() } }
    }

    /// An attribute cannot have its value.
    private struct Refused: Error {}

    /// Calls `body`; if an object of the batch fails, makes the objects of the batch, for the error that names it.
    ///
    /// The stage then restarts after a kill, because objects that are made here are not related.
    private func explaining(_ mapping: ResolvedMapping, _ source: String, _ body: () throws -> Void) throws {
        do { try body() } catch {
            guard PreviewFindings.isOfObject(error) else { return try call(mapping) { throw error } }
            let batch = stage.batch
            stage.goesOn = false
            stage.discard()
            for number in batch {
                try create(mapping, of: stage.source.dynamicObject(number, entityNamed: source))
            }
            try call(mapping) {
                try stage.flush()
                throw error
            }
        }
    }
}
