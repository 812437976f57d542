internal import FaultlineStore

/// The entity of an object, as the object knows it: its name, its layout, its class.
///
/// Each model class, and each entity of dynamic objects, has a *detached* home for objects that are in no context. The
/// home of an object in a context is an `EntityHome`.
// Safe because the constants are immutable, and the class is set before the first object is made.
package class ObjectHome: @unchecked Sendable {
    let entityName: String
    /// Nil for detached objects.
    let entity: EntityStorage?
    /// The same, for calls that take no reference.
    let entityReference: Unmanaged<EntityStorage>?
    let layout: RowLayout
    /// The description of the class, kept alive by the home; nil for a detached home, which its type owns.
    private let typeOwner: ModelType?
    // Set once, before the first object of a detached home is made.
    @exclusivity(unchecked) private(set) var typeReference: Unmanaged<ModelType>?
    let storeID: (UInt64, UInt64)

    /// Makes the home of detached objects.
    ///
    /// - Parameters:
    ///   - layout: The layout of their class.
    ///   - entityName: The entity of their identifiers: that of the table, which inserted objects have too.
    init(detached layout: RowLayout, of entityName: String) {
        self.entityName = entityName
        entity = nil
        entityReference = nil
        self.layout = layout
        typeOwner = nil
        storeID = (0, 0)
    }

    /// Begins the home of objects in a context.
    init(_ entity: EntityStorage, type: ModelType?, storeID: (UInt64, UInt64)) {
        entityName = entity.name
        self.entity = entity
        entityReference = .passUnretained(entity)
        layout = entity.layout
        typeOwner = type
        typeReference = type.map { .passUnretained($0) }
        self.storeID = storeID
    }

    /// The description of the class of the entity's objects; nil if no objects are made.
    @inline(__always) final var type: ModelType? { typeReference?.takeUnretainedValue() }

    /// Sets the class of a detached home, which lives as long as the class.
    final func belong(to type: ModelType) { typeReference = .passUnretained(type) }

    // MARK: Objects in a context

    /// Lets go of an object of the context that is being destroyed, and releases its reference to the context.
    ///
    /// - Parameters:
    ///   - number: The object's number.
    ///   - isRegistered: Whether it is in the identity map.
    func letGo(of number: UInt64, isRegistered: Bool) {}

    /// Forgets a new object of the context whose initializer has failed.
    func forgetUnfinished(_ number: UInt64, _ values: Draft) {}

    /// Notes that the values of an object are about to change, by which the context finds it.
    func noteIndexedChange(of reference: ObjectReference) {}
}
