internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

/// The entity that a predicate's expression is lowered against, by key path.
struct LoweringScope {
    var variable: PredicateExpressions.VariableID
    /// Slots of stored attributes and to-one relationships, by key path of the class.
    let slots: [AnyKeyPath: Int]
    let layout: RowLayout
    /// Numbers of a store's objects by identifier; temporary ones and those of other stores have none.
    let number: (PersistentIdentifier) -> UInt64?
    /// The objects that a to-one slot may lead to; nil if it cannot lead to a missing one.
    let targets: (Int) -> ReferenceTargets?
    /// The rows whose objects are of a class; nil if rows do not tell.
    let isOfClass: (any Any.Type) -> RowFilter?

    /// The rows of an entity in a context.
    ///
    /// - Parameters:
    ///   - variable: The variable that stands for a row's object.
    ///   - home: The entity.
    ///   - entity: Its storage.
    ///   - context: The context.
    ///   - countsPending: Whether unsaved changes count.
    init(
        _ variable: PredicateExpressions.VariableID, _ home: EntityHome, _ entity: EntityStorage,
        _ context: ContextCore, countsPending: Bool
    ) {
        let storeID = context.store.log.storeID
        self.variable = variable
        slots = home.rowSlots
        layout = entity.layout
        number = { !$0.isTemporary && $0.storeID == storeID ? $0.number : nil }
        targets = { context.targets(of: entity, $0, includingPendingChanges: countsPending) }
        isOfClass = { home.filterOfClass($0) }
    }

    func kind(_ slot: Int) -> ColumnKind { layout.columns[slot].kind }
}
