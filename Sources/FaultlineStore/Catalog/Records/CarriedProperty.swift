/// A property that both versions of an entity have, during a streamed stage: whether the stage's closures set it, and
/// how many objects have a value of it.
///
/// Values of old objects are carried over as long as no closure has set the property. When one does, the values carried
/// so far are removed. So the property is carried over on all objects of the stage or on none.
package struct CarriedProperty: Codable, Sendable, Equatable {
    /// The entity of the new version.
    package let entity: String
    package let property: String
    /// Whether a closure has set it on a new object, or has excluded it from being carried over.
    package var isSet = false
    /// If a closure has set it: old objects with lower numbers may have been carried over, which must be undone.
    package var end: UInt64 = 0
    /// Old objects with a value.
    package var had = 0
    /// New objects whose value was carried over.
    package var carried = 0
    /// New objects whose value a closure has set.
    package var set = 0

    package init(entity: String, property: String) {
        self.entity = entity
        self.property = property
    }
}

extension CarriedProperty {
    /// Whether continuing from these numbers cannot overflow.
    var isPlausible: Bool { [had, carried, set].allSatisfy { $0 >= 0 && $0 <= 1 << 56 } && end <= 1 << 56 }
}
