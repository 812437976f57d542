internal import FaultlineModel
internal import Foundation

/// The conversions between an ephemeral value as the accessors of a class hold it and as it is read and set by name.
enum EphemeralValue {
    /// A value as it is read by name: an enum as its raw value.
    static func read(_ value: Any) -> Any { (value as? any RawRepresentable).map { $0.rawValue as Any } ?? value }

    /// A value in the type that the attribute declares; one of an unknown type takes any value.
    static func written(_ value: Any, to attribute: Schema.Attribute) throws(KeyedValueError) -> Any {
        let declared = (attribute.valueType as? any OptionalValue.Type)?.wrappedType ?? attribute.valueType
        if isInstance(value, of: declared) { return value }
        let misfit = KeyedValueError(
            message: "holds \(attribute.valueTypeName), and was set to a value of type \(type(of: value)).")
        guard attribute.kind != .codable else { throw misfit }
        let fitted: AttributeValue
        do throws(AttributeValue.Misfit) { fitted = try AttributeValue(value, kind: attribute.kind) } catch {
            throw misfit
        }
        let raw = declared as? any RawRepresentable.Type
        let scalar = boxed(fitted, as: raw.map { rawType(of: $0) } ?? declared)
        guard let made = raw.map({ makeCase($0, scalar) }) ?? scalar, isInstance(made, of: declared) else {
            throw misfit
        }
        return made
    }

    private static func isInstance(_ value: Any, of type: any Any.Type) -> Bool {
        func open<T>(_ type: T.Type) -> Bool { value is T }
        return _openExistential(type, do: open)
    }

    private static func rawType<R: RawRepresentable>(of type: R.Type) -> any Any.Type { R.RawValue.self }

    private static func makeCase<R: RawRepresentable>(_ type: R.Type, _ raw: Any) -> Any? {
        (raw as? R.RawValue).flatMap { R(rawValue: $0) }
    }

    /// A value in a scalar type.
    private static func boxed(_ value: AttributeValue, as type: any Any.Type) -> Any {
        switch value {
        case .bool(let value): value
        case .integer(let value):
            if let type = type as? any FixedWidthInteger.Type { integer(value, as: type) } else { value }
        case .float(let value): value
        case .double(let value): value
        case .date(let value): value
        case .uuid(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .url(let value): value
        case .data(let value): value
        case .encodable(let value): value
        }
    }

    private static func integer<I: FixedWidthInteger>(_ value: Int128, as type: I.Type) -> Any {
        I(exactly: value) ?? value as Any
    }
}
