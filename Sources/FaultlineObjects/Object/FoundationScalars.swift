package import FaultlineStore
internal import Foundation

/// Foundation's value types as scalars of nested values: `docs/FileFormat.md` section 12.
package struct FoundationScalars: NestedScalarCoding {
    package init() {}

    package func scalar<Value: Encodable>(for value: Value) -> NestedScalar? {
        switch value {
        case let value as Date: .date(value.timeIntervalSinceReferenceDate)
        case let value as UUID: .uuid(value.storedWords.0, value.storedWords.1)
        case let value as Data: .data([UInt8](value))
        case let value as Decimal: .decimal(value.stored)
        case let value as URL: .string(value.absoluteString)
        default: nil
        }
    }

    package func isScalar<Value: Decodable>(_ type: Value.Type) -> Bool {
        type == Date.self || type == UUID.self || type == Data.self || type == Decimal.self || type == URL.self
    }

    package func value<Value: Decodable>(_ type: Value.Type, from scalar: NestedScalar) -> Value? {
        switch scalar {
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds) as? Value
        case .uuid(let first, let second): UUID(storedWords: (first, second)) as? Value
        case .data(let bytes): Data(bytes) as? Value
        case .decimal(let stored): Decimal(stored) as? Value
        case .string(let text): URL(string: text) as? Value
        }
    }
}
