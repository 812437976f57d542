internal import FaultlineObjects

/// Takes the new objects of a streamed stage's closures.
protocol NewObjectWriter: AnyObject {
    var isDryRun: Bool { get }
    func insert<New: PersistentModel>(_ new: New) throws
    func upsert<New: PersistentModel>(_ new: New) throws -> New
    func leave<New: PersistentModel>(_ property: PartialKeyPath<New>) throws
    func object<New: PersistentModel>(migratedFrom old: any PersistentModel, as type: New.Type) throws -> New?
}
