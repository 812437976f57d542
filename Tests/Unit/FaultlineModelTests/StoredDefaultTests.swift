import FaultlineModel
import FoundationEssentials
import Testing

@Suite struct StoredDefaultTests {
    enum Level: Int8, Codable { case low = -3 }
    struct Point: Codable, Equatable { var x = 1.5, label = "p" }

    private func readBack(_ attribute: Schema.Attribute) throws -> Schema.Attribute {
        let schema = try Schema(encoded: Schema(Schema.Entity("A", properties: attribute)).encoded())
        return try #require(schema.entities[0].attributesByName["x"])
    }

    private func expectKept<T: Equatable>(_ value: T, as type: any Any.Type = T.self) throws {
        let attribute = Schema.Attribute(name: "x", valueType: type, defaultValue: value)
        let read = try readBack(attribute)

        #expect(read.defaultValue as? T == value)
        #expect(read.hasDefaultValue)
        #expect(read == attribute)
    }

    @Test func keepsScalars() throws {
        try expectKept(true)
        try expectKept(Int8.min)
        try expectKept(Int16.min)
        try expectKept(Int32.max)
        try expectKept(Int64.min)
        try expectKept(Int.max)
        try expectKept(UInt8.max)
        try expectKept(UInt16.max)
        try expectKept(UInt32.max)
        try expectKept(UInt64.max)
        try expectKept(UInt.max)
        try expectKept(Float(0.1))
        try expectKept(-Double.infinity)
        try expectKept(0.1 + 0.2)
        try expectKept(Double.leastNonzeroMagnitude)
        try expectKept(Date(timeIntervalSinceReferenceDate: 123_456_789.123_456))
        try expectKept(#require(UUID(uuidString: "0E4F8F4A-36F3-4DC9-A7F0-1F5B8C0F3B11")))
        try expectKept(#require(Decimal(string: "-1234567890123456789.000000001")))
        try expectKept("\"\n\u{0}é\u{1F600}")
        try expectKept("")
        try expectKept(#require(URL(string: "https://example.com/a%20b?c=d#e")))
        try expectKept(Data([0, 255, 128]))
        try expectKept(Data())
        try expectKept(7, as: Int?.self)
    }

    @Test func keepsNotANumber() throws {
        let read = try readBack(Schema.Attribute(name: "x", valueType: Double.self, defaultValue: Double.nan))
        #expect((read.defaultValue as? Double)?.isNaN == true)
        let decimal = try readBack(Schema.Attribute(name: "x", valueType: Decimal.self, defaultValue: Decimal.nan))
        #expect((decimal.defaultValue as? Decimal)?.isNaN == true)
    }

    @Test func keepsTheRawValueOfAnEnum() throws {
        let attribute = Schema.Attribute(name: "x", valueType: Level?.self, defaultValue: Level.low)
        let read = try readBack(attribute)

        #expect(attribute.defaultValue as? Level == .low)
        #expect(read.defaultValue as? Int8 == -3)
    }

    @Test func keepsAnEncodedValueAsText() throws {
        let attribute = Schema.Attribute(name: "x", valueType: Point.self, defaultValue: Point())
        let read = try readBack(readBack(attribute))

        #expect(read.defaultValue == nil)
        #expect(read.hasDefaultValue)
        #expect(read.defaultJSON == #"{"label":"p","x":1.5}"#)
        #expect(read == attribute)
    }

    @Test func takesANilForNoDefault() throws {
        let none: Int? = nil
        let attribute = Schema.Attribute(name: "x", valueType: Int?.self, defaultValue: none as Any)

        #expect(attribute.defaultValue == nil)
        #expect(!attribute.hasDefaultValue)
        #expect(try readBack(attribute).defaultValue == nil)
    }
}
