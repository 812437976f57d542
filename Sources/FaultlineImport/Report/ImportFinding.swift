#if Import
/// Values or objects of one property that could not be carried over, for one reason.
public struct ImportFinding: Sendable, Hashable {
    /// The reason why a value is not in the new store.
    public enum Reason: String, Sendable, CaseIterable {
        /// The value has another type than the attribute.
        case wrongType
        /// The number is out of the attribute's range.
        case outOfRange
        /// The text is not UTF-8.
        case invalidText
        /// The text is not a URL.
        case invalidURL
        /// The value does not say where its bytes are.
        case unknownMarker
        /// The file of a large value is missing, or is no file.
        case missingFile
        /// The value is too large for the place that it must have.
        case tooLarge
        /// A required attribute or relationship has no value; the new object has the default, or zero.
        case missingValue
        /// A reference or link leads to an object that the store lacks, or to one of another entity.
        case missingObject
        /// A reference between two single objects that the other side does not have.
        case oneSided
        /// The position in an ordered collection is not a number; the object is in the collection.
        case unknownOrder
        /// The object's number, `Z_PK`, is out of range; the object was not carried over.
        case invalidNumber
        /// The object is of an entity that does not belong into its table; it was not carried over.
        case unknownEntity
        /// The store has no known form of the relationship; none of its links was carried over.
        case unknownRelationship
        /// The store has a column or table with values that the model has no property for; they were not carried over.
        case unknownColumn
        /// Objects have equal values: they are all there, and the constraint is not.
        case duplicateValues
    }

    /// The entity of the objects; empty for rows of no known entity.
    public let entity: String
    /// The property; inside a composite attribute with its path; empty for whole objects; the column or table that the
    /// model has no property for.
    public let property: String
    /// The reason.
    public let reason: Reason
    /// How many values or objects there are.
    public internal(set) var count: Int
    /// The numbers (`Z_PK`) of the first ones, at most ten.
    public internal(set) var objects: [Int64]
}
#endif
