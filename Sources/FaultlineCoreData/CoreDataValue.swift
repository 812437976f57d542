internal import FaultlineModel
internal import FaultlineObjects
internal import Foundation

/// The conversions between values of Faultline and those of Core Data's key-value coding.
enum CoreDataValue {
    /// A value as Core Data gives it: numbers and flags as objects of Foundation, also in a list; the members of a
    /// to-many relationship as a set.
    static func read(_ value: Any?, isToMany: Bool) -> Any? {
        guard let values = value as? [Any] else { return value.map(boxed) }
        return isToMany ? NSSet(array: values) : values.map(boxed)
    }

    private static func boxed(_ value: Any) -> Any {
        switch value {
        case let value as Bool: NSNumber(value: value)
        case let value as Int: NSNumber(value: value)
        case let value as Int64: NSNumber(value: value)
        case let value as Int32: NSNumber(value: value)
        case let value as Int16: NSNumber(value: value)
        case let value as Int8: NSNumber(value: value)
        case let value as UInt: NSNumber(value: value)
        case let value as UInt64: NSNumber(value: value)
        case let value as UInt32: NSNumber(value: value)
        case let value as UInt16: NSNumber(value: value)
        case let value as UInt8: NSNumber(value: value)
        case let value as Double: NSNumber(value: value)
        case let value as Float: NSNumber(value: value)
        case let value as Decimal: NSDecimalNumber(decimal: value)
        default: value
        }
    }

    /// A value as a property takes it; one that it does not take stays as it is, and is refused when it is set.
    static func written(_ value: Any?, to property: (any SchemaProperty)?) -> Any? {
        switch value {
        case nil, is NSNull: nil
        case let set as NSSet where property?.isRelationship == true: members(set.allObjects) ?? set
        case let set as NSOrderedSet where property?.isRelationship == true: members(set.array) ?? set
        case let value?: property?.asAttribute.map { number(value, $0.kind) } ?? value
        }
    }

    private static func members(_ objects: [Any]) -> [ManagedObject]? {
        let members = objects.compactMap { $0 as? ManagedObject }
        return members.count == objects.count ? members.sorted { $0.objectID < $1.objectID } : nil
    }

    /// A number in a type that a kind of attribute takes, if it holds the value exactly; else the value itself.
    private static func number(_ value: Any, _ kind: AttributeKind) -> Any {
        guard let number = value as? NSNumber else { return value }
        let isFloating = ["d", "f"].contains(String(cString: number.objCType))
        return switch kind {
        case .bool: (number as Any) as? Bool ?? value
        case .decimal where value is Decimal || value is NSDecimalNumber: number.decimalValue
        case .decimal where !isFloating: whole(number) ?? value
        case .float, .double: isFloating ? number.doubleValue : whole(number) ?? value
        default: kind.isInteger ? whole(number) ?? value : value
        }
    }

    /// The whole number that a number is; nil for a fraction, and for one that is too large.
    private static func whole(_ number: NSNumber) -> Any? {
        (number as Any) as? Int ?? (number as Any) as? UInt64
    }
}
