import FaultlineModel
import FoundationEssentials
import Testing

@Suite struct AttributeKindTests {
    enum Level: Int16, Codable { case low, high }
    enum Payload: Codable { case one(Int) }
    struct Point: Codable { var x = 0 }
    struct Opaque {}
    struct Wrapped: RawRepresentable, Codable { var rawValue: Point }

    @Test func keepsItsRawValuesForEver() {
        let numbers = Dictionary(
            uniqueKeysWithValues: AttributeKind.allCases.map { ($0.description, Int($0.rawValue)) })

        #expect(
            numbers == [
                "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8,
                "uint64": 9, "float": 10, "double": 11, "date": 12, "uuid": 13, "decimal": 14, "string": 15, "url": 16,
                "data": 17, "codable": 18,
            ])
    }

    private static let kinds: [(any Any.Type, AttributeKind)] = [
        (Bool.self, AttributeKind.bool), (Int8.self, .int8), (Int16.self, .int16), (Int32.self, .int32),
        (Int64.self, .int64), (Int.self, .int64), (UInt8.self, .uint8), (UInt16.self, .uint16), (UInt32.self, .uint32),
        (UInt64.self, .uint64), (UInt.self, .uint64), (Float.self, .float), (Double.self, .double), (Date.self, .date),
        (UUID.self, .uuid), (Decimal.self, .decimal), (String.self, .string), (URL.self, .url), (Data.self, .data),
        (Point.self, .codable), (Payload.self, .codable), ([String].self, .codable), ([String: Int].self, .codable),
        (Level.self, .int16), (Level?.self, .int16), (String??.self, .string), (Wrapped.self, .codable),
        ([UInt8].self, .codable), (Point?.self, .codable),
    ]

    @Test func findsTheKindOfAType() {
        for (type, kind) in AttributeKindTests.kinds {
            #expect(AttributeKind(valueType: type) == kind, "\(type)")
        }
    }

    @Test func refusesATypeThatIsNotCodable() {
        #expect(AttributeKind(valueType: Opaque.self) == nil)
        #expect(AttributeKind(valueType: Opaque?.self) == nil)
        #expect(AttributeKind(valueType: [Opaque].self) == nil)
    }

    @Test func standsForATypeOfTheSameKind() {
        for kind in AttributeKind.allCases where kind != .codable {
            #expect(AttributeKind(valueType: kind.defaultValueType) == kind)
        }
    }

    @Test func knowsIntegers() {
        #expect(AttributeKind.allCases.filter(\.isInteger).map(\.rawValue) == Array(2...9))
    }
}
