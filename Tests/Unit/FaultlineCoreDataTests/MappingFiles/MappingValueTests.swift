import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// The values of expressions, and those that have none.
struct MappingValueTests {
    private typealias Given = MappedValues.Given

    private func method(_ name: String, _ index: Int) -> MappingExpression {
        .function(MappedValues.given(index), name, [])
    }

    private func check(
        _ cases: [(type: String, MappingExpression, AnyHashable?)], _ given: [Given] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try MappedValues.of(cases.map { ($0.type, $0.1) }, given)
        for (found, (_, expression, wanted)) in zip(found, cases) {
            #expect(found as? AnyHashable == wanted, "\(expression)", sourceLocation: sourceLocation)
        }
    }

    @Test func `whole numbers of 64 bits stay exact`() throws {
        let given: [Given] = [
            { Int.max }, { NSNumber(value: Int64.max - 1) }, { "9223372036854775807" },
            { Decimal(string: "-9223372036854775807.9") }, { -3.9 }, { 5_000_000_000 }, { "9223372036854775808" },
            { 1e19 },
        ]
        try check(
            [
                ("Integer 64", method("integerValue", 0), Int.max),
                ("Integer 64", method("longLongValue", 1), Int.max - 1),
                ("Integer 64", method("integerValue", 2), Int.max),
                ("Integer 64", method("integerValue", 3), -Int.max),
                ("Integer 64", method("intValue", 4), -3), ("Integer 64", method("integerValue", 5), 5_000_000_000),
                ("Integer 64", MappedValues.given(1), Int.max - 1),
            ], given)
        for (name, index) in [("intValue", 5), ("integerValue", 6), ("longLongValue", 7)] {
            let failure = MappedValues.failure(of: method(name, index), "Integer 64", given)
            #expect(failure?.contains("\(name) has no value") == true, "\(failure ?? "none")")
        }
    }

    @Test func `texts are read up to the first other sign`() throws {
        let given: [Given] = [
            { "  -12abc" }, { "abc" }, { " 3.5e1x" }, { "-.5." }, { "  -00Yes" }, { "0.9" }, { "no" }, { "t" },
            { " 9" }, { nil }, { NSNull() },
        ]
        try check(
            [
                ("Integer 32", method("integerValue", 0), -12), ("Integer 32", method("intValue", 1), 0),
                ("Double", method("doubleValue", 2), 35.0), ("Double", method("floatValue", 3), -0.5),
                ("Double", method("doubleValue", 1), 0.0), ("Boolean", method("boolValue", 4), true),
                ("Boolean", method("boolValue", 5), false), ("Boolean", method("boolValue", 6), false),
                ("Boolean", method("boolValue", 7), true), ("Boolean", method("boolValue", 8), true),
                ("String", method("uppercaseString", 9), nil), ("String", method("uppercaseString", 10), nil),
                ("String", MappedValues.given(10), nil),
            ], given)
    }

    @Test func `a method of another type has no value`() throws {
        let appended = MappingExpression.function(
            MappedValues.given(0), "stringByAppendingString:", [MappedValues.given(1)])
        let given: [Given] = [{ "a" }, { 5 }, { Data([1]) }]
        for (name, expression) in [
            ("stringByAppendingString:", appended), ("uppercaseString", method("uppercaseString", 1)),
            ("length", method("length", 1)), ("count", method("count", 0)),
            ("absoluteString", method("absoluteString", 0)), ("stringValue", method("stringValue", 0)),
            ("integerValue", method("integerValue", 2)), ("boolValue", method("boolValue", 2)),
            ("description", method("description", 2)),
            ("description", .function(.variable("source"), "description", [])),
            ("CAST", .call("castObject:toType:", [.list([.constant(.integer(1))]), .text("NSString")])),
        ] {
            let failure = MappedValues.failure(of: expression, "String", given)
            #expect(failure?.contains("\(name) takes no value of the type") == true, "\(failure ?? "none")")
        }
    }

    @Test func `numbers are written as Foundation writes them`() throws {
        let given: [Given] = [
            { 5.0 }, { 0.1 }, { Decimal(string: "2.50") }, { true }, { NSNumber(value: 7) }, { UInt64.max },
            { URL(string: "https://a.b/c") }, { Float(0.1) },
        ]
        let wanted = ["5", "0.1", "2.5", "1", "7", "18446744073709551615"]
        try check(
            wanted.indices.flatMap { index in
                [
                    ("String", method("stringValue", index), wanted[index]),
                    ("String", method("description", index), wanted[index]),
                    (
                        "String", .call("castObject:toType:", [MappedValues.given(index), .text("NSString")]),
                        wanted[index]
                    ),
                ]
            } + [
                ("String", method("absoluteString", 6), "https://a.b/c"), ("String", method("stringValue", 7), "0.1"),
            ], given)
    }

    @Test func `only a whole text is cast to a number`() throws {
        func cast(_ index: Int) -> MappingExpression {
            .call("castObject:toType:", [MappedValues.given(index), .text("NSNumber")])
        }
        let given: [Given] = [{ " 12 " }, { "1.5" }, { "9223372036854775807" }, { "12abc" }, { "" }]
        try check(
            [("Integer 16", cast(0), 12), ("Double", cast(1), 1.5), ("Integer 64", cast(2), Int.max)], given)
        for index in 3...4 {
            let failure = MappedValues.failure(of: cast(index), "Double", given)
            #expect(failure?.contains("CAST has no value") == true, "\(failure ?? "none")")
        }
    }

    @Test func `names after a computed value are methods`() throws {
        let loud = MappingExpression.function(.source("name"), "uppercaseString", [])
        let given: [Given] = [{ "abcd" }]
        try check(
            [
                ("Integer 32", .keyPath(loud, "length"), 10),
                ("Integer 32", .keyPath(MappedValues.given(0), "uppercaseString.length"), 4),
            ], given)
        let failure = MappedValues.failure(of: .keyPath(MappedValues.given(0), "glow"), "String", given)
        #expect(failure?.contains("glow takes no value") == true, "\(failure ?? "none")")
        let company = try CompanyPackage(new: ModelText.attribute("x", "String"))
        let file = try MappedValues.file { $0[0].properties.append(.attribute("x", .keyPath(loud, "glow"))) }
        #expect(
            file.unexpressed(from: company.old, to: company.new).map(\.reason)
                == ["A computed value has no glow."])
    }

    @Test func `decimals stay decimals, and numbers are compared exactly`() throws {
        func call(_ name: String, _ arguments: Int...) -> MappingExpression {
            .call(name, arguments.map(MappedValues.given))
        }
        let given: [Given] = [
            { Decimal(string: "-2.5") }, { 0.1 }, { Decimal(string: "7.5") }, { 2 }, { Int.max }, { Int.max - 1 },
            { Decimal(string: "9223372036854775806.5") },
        ]
        func decimal(_ text: String) -> AnyHashable? { Decimal(string: text) }
        try check(
            [
                ("Decimal", call("multiply:by:", 0, 1), decimal("-0.25")),
                ("Decimal", call("abs:", 0), decimal("2.5")), ("Decimal", call("floor:", 0), decimal("-3")),
                ("Decimal", call("ceiling:", 0), decimal("-2")), ("Decimal", call("trunc:", 0), decimal("-2")),
                ("Decimal", call("modulus:by:", 2, 3), decimal("1.5")),
                ("Decimal", call("raise:toPower:", 2, 3), decimal("56.25")),
                ("Decimal", MappedValues.given(1), decimal("0.1")),
                ("Decimal", .source("salary.doubleValue"), decimal("0.5")),
                ("Integer 64", call("min:", 4, 5), Int.max - 1), ("Integer 64", call("max:", 5, 4), Int.max),
                ("Decimal", call("min:", 4, 6), decimal("9223372036854775806.5")),
            ], given)
    }
}
