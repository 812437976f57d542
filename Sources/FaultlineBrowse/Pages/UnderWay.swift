import FaultlineCommands
import FaultlineModel
import FaultlineStore

/// A migration that has begun in the store and is not over.
enum UnderWay {
    /// The progress of the migration; nil if there is none.
    ///
    /// - Throws: If the catalog cannot be read.
    static func sentence(_ view: StoreView) throws -> String? {
        guard let catalog = try StoredCatalog.read(view.snapshot), let record = catalog.migration else { return nil }
        let done = Quantity.count(record.entityDone)
        return
            "A migration of version \(catalog.schema.version) has begun. It is in stage \(record.stage + 1), which leads to version \(record.targetSchema.version), and has done \(done) objects of the entity in work. These pages show the old state until the switch."
    }
}
