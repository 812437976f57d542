/// A property that both versions of an entity have, while a streamed stage makes the one of the other: whether its
/// closures set it, and on how many objects it has a value.
///
/// Values of old objects go over as long as no closure has set the property. When one does, those that went over before
/// are taken back, so that the property is either carried over on all objects of the stage or on none.
package struct CarriedProperty: Codable, Sendable, Equatable {
    /// The entity of the new version.
    package let entity: String
    package let property: String
    /// Whether a closure has set it on a new object, or has said that it is to be left.
    package var isSet = false
    /// Where it is set: old objects of lower numbers may have been carried over, and are to be taken back.
    package var end: UInt64 = 0
    /// Old objects that had a value.
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
    /// Whether going on from these numbers cannot overflow.
    var isPlausible: Bool { [had, carried, set].allSatisfy { $0 >= 0 && $0 <= 1 << 56 } && end <= 1 << 56 }
}
