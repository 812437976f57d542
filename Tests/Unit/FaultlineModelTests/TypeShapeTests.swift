import FaultlineModel
import FoundationEssentials
import Testing

@Suite struct TypeShapeTests {
    private final class Model {}
    private struct Point: Codable { var x = 0 }
    private enum Level: Int { case low, high }
    private struct Box<Content> { var content: Content }

    private static let types: [any Any.Type] = [
        Int.self, String.self, Date.self, Int?.self, [String].self, [String: Int].self, Model.self, Point.self,
        Level.self, Level??.self, Box<[Point]>.self, Box<Model?>.self, Any.self, (any Error).self, Schema.self,
        Schema.Version.self, AttributeKindTests.Level.self,
    ]

    @Test func namesAreThoseThatTextGives() {
        for type in Self.types {
            #expect(unqualifiedName(of: type) == String(describing: type))
            #expect(qualifiedName(of: type) == String(reflecting: type))
        }
    }

    @Test func tellsOptionalsAndArraysFromAllElse() {
        func word(_ type: any Any.Type) -> String {
            switch TypeShape(of: type) {
            case .optional(let wrapped): "optional \(wrapped)"
            case .array(let element): "array \(element)"
            case .other: "other"
            }
        }
        #expect(word(Int?.self) == "optional Int")
        #expect(word(Int??.self) == "optional Optional<Int>")
        #expect(word(Model?.self) == "optional Model")
        #expect(word([Model].self) == "array Model")
        #expect(word([Int]?.self) == "optional Array<Int>")
        for type in [Int.self, Model.self, Point.self, Level.self, Box<Int?>.self, Any.self] as [any Any.Type] {
            #expect(word(type) == "other")
        }
    }

    @Test func tellsPropertiesByTheirClass() {
        let attribute = Schema.Attribute(name: "a", valueType: Int.self)
        let composite = Schema.CompositeAttribute(name: "c", valueType: Any.self, properties: [attribute])
        let relationship = Schema.Relationship(name: "r", destination: "E", isToOne: true)
        let properties: [any SchemaProperty] = [attribute, composite, relationship]

        #expect(properties.map { $0.asAttribute === $0 as? Schema.Attribute } == [true, true, true])
        #expect(properties.map { $0.asRelationship === $0 as? Schema.Relationship } == [true, true, true])
        #expect(properties.map { $0.asAttribute == nil } == [false, false, true])
        #expect(properties.map { $0.asRelationship == nil } == [true, true, false])
    }
}
