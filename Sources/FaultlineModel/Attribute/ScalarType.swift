internal import FoundationEssentials

/// A Swift type that an attribute kind stores directly, with its name in written schemas.
struct ScalarType {
    let type: any Any.Type
    let kind: AttributeKind
    let name: String

    /// Every type that is stored without being encoded: a schema can turn only the names of these types back into
    /// types.
    static let all: [ScalarType] = [
        ScalarType(type: Bool.self, kind: .bool, name: "Bool"),
        ScalarType(type: Int8.self, kind: .int8, name: "Int8"),
        ScalarType(type: Int16.self, kind: .int16, name: "Int16"),
        ScalarType(type: Int32.self, kind: .int32, name: "Int32"),
        ScalarType(type: Int64.self, kind: .int64, name: "Int64"),
        ScalarType(type: Int.self, kind: .int64, name: "Int"),
        ScalarType(type: UInt8.self, kind: .uint8, name: "UInt8"),
        ScalarType(type: UInt16.self, kind: .uint16, name: "UInt16"),
        ScalarType(type: UInt32.self, kind: .uint32, name: "UInt32"),
        ScalarType(type: UInt64.self, kind: .uint64, name: "UInt64"),
        ScalarType(type: UInt.self, kind: .uint64, name: "UInt"),
        ScalarType(type: Float.self, kind: .float, name: "Float"),
        ScalarType(type: Double.self, kind: .double, name: "Double"),
        ScalarType(type: Date.self, kind: .date, name: "Date"),
        ScalarType(type: UUID.self, kind: .uuid, name: "UUID"),
        ScalarType(type: Decimal.self, kind: .decimal, name: "Decimal"),
        ScalarType(type: String.self, kind: .string, name: "String"),
        ScalarType(type: URL.self, kind: .url, name: "URL"),
        ScalarType(type: Data.self, kind: .data, name: "Data"),
    ]

    private static let byType = Dictionary(uniqueKeysWithValues: all.map { (ObjectIdentifier($0.type), $0) })
    private static let byOptional = Dictionary(
        uniqueKeysWithValues: all.map { (ObjectIdentifier(optionalType(of: $0.type)), $0) })
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    private init(type: any Any.Type, kind: AttributeKind, name: String) {
        self.type = type
        self.kind = kind
        self.name = name
    }

    /// Looks a type up; nil if it is not a scalar.
    init?(_ type: any Any.Type) {
        guard let scalar = ScalarType.byType[ObjectIdentifier(type)] else { return nil }
        self = scalar
    }

    /// Looks an optional type up by its wrapped type; nil if that is not a scalar.
    init?(wrappedBy type: any Any.Type) {
        guard let scalar = ScalarType.byOptional[ObjectIdentifier(type)] else { return nil }
        self = scalar
    }

    /// Looks a type up by its name in a written schema; nil if it is not a scalar's.
    init?(named name: String) {
        guard let scalar = ScalarType.byName[name] else { return nil }
        self = scalar
    }
}

/// The shape of a type, without knowledge of its parts.
package enum TypeShape {
    case optional(of: any Any.Type)
    /// An array, the only shape of a to-many relationship.
    case array(of: any Any.Type)
    case other

    // The first check whether a type conforms to a protocol makes the runtime search all conformances of the process. A
    // container checks the types of all properties. So there is one protocol for all shapes, and scalars and classes,
    // which have none, are excluded before.

    /// Finds the shape of a type.
    package init(of type: any Any.Type) {
        if let scalar = ScalarType(wrappedBy: type) {
            self = .optional(of: scalar.type)
        } else if ScalarType(type) != nil || type is AnyClass || type == Any.self {
            self = .other
        } else {
            self = (type as? any ShapedType.Type)?.shape ?? .other
        }
    }
}

/// Optionals and arrays, readable without knowledge of their parts.
private protocol ShapedType {
    static var shape: TypeShape { get }
}

extension Optional: ShapedType {
    fileprivate static var shape: TypeShape { .optional(of: Wrapped.self) }
}

extension Array: ShapedType {
    fileprivate static var shape: TypeShape { .array(of: Element.self) }
}

/// The wrapped value of an optional, readable without knowledge of its type.
private protocol OptionalType {
    var wrappedValue: Any? { get }
}

extension Optional: OptionalType {
    fileprivate var wrappedValue: Any? { self }
}

/// The name of a type as `String(describing:)` gives it, without that function's many checks of conformances.
package func unqualifiedName(of type: any Any.Type) -> String { _typeName(type, qualified: false) }

/// The name of a type with its module and enclosing types, as `String(reflecting:)` gives it.
package func qualifiedName(of type: any Any.Type) -> String { _typeName(type, qualified: true) }

/// Whether values of a type, or of the type that an optional wraps, are stored without being encoded.
package func isScalar(_ type: any Any.Type) -> Bool { ScalarType(type) != nil || ScalarType(wrappedBy: type) != nil }

/// Whether a type is an optional one.
func isOptional(_ type: any Any.Type) -> Bool {
    if case .optional = TypeShape(of: type) { return true }
    return false
}

/// The type inside any number of optionals.
package func unwrappedType(_ type: any Any.Type) -> any Any.Type {
    var type = type
    while case .optional(let wrapped) = TypeShape(of: type) { type = wrapped }
    return type
}

/// The optional of a type.
func optionalType(of type: any Any.Type) -> any Any.Type {
    func wrap<T>(_ type: T.Type) -> any Any.Type { T?.self }
    return _openExistential(type, do: wrap)
}

/// The type of a raw value.
func rawValueType<T: RawRepresentable>(_ type: T.Type) -> any Any.Type { T.RawValue.self }

/// The value inside any number of optionals; nil if one of them is nil.
func unwrappedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    if ScalarType(type(of: value)) != nil { return value }
    guard let optional = value as? any OptionalType else { return value }
    return unwrappedValue(optional.wrappedValue)
}

/// The raw value of an enum case or the like, without knowing its type.
func rawValue(of value: any RawRepresentable) -> Any { value.rawValue }
