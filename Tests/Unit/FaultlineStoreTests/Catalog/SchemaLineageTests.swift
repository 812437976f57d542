import FaultlineDisk
import FaultlineModel
import FaultlineStore
import Testing

/// The list of schemas, as a later release or a defect may have written it.
@Suite struct SchemaLineageTests {
    private struct Stored: Encodable {
        var schemas: [SchemaLineage.Member]
    }

    private func schema(_ number: Int) -> Schema {
        Schema(Schema.Entity("Thing\(number)"), version: Schema.Version(1, 0, number))
    }

    private func decoded(_ numbers: [Int]) throws -> SchemaLineage {
        let bytes = try NestedEncoder.encode(Stored(schemas: numbers.map { SchemaLineage.Member(schema($0)) }))
        return try bytes.withUnsafeBytes { try NestedDecoder.decode(SchemaLineage.self, from: $0) }
    }

    @Test("A1: a list that breaks a rule gives its longest end that keeps them")
    func takesTheEnd() throws {
        #expect(try decoded([1, 2, 3]).schemas.map(\.version.patch) == [1, 2, 3])
        #expect(try decoded([1, 2, 1, 3]).schemas.map(\.version.patch) == [2, 1, 3])
        #expect(try decoded([3, 3]).schemas.map(\.version.patch) == [3])
        let many = try decoded(Array(0..<SchemaLineage.countMax + 5))
        #expect(many.schemas.count == SchemaLineage.countMax && many.schemas.first?.version.patch == 5)
        #expect(many.hasLeft(schema(5)) && !many.hasLeft(schema(4)))
        #expect(throws: DecodingError.self) { try decoded([]) }
    }

    @Test func `a list with a schema twice, with none or with too many breaks a rule`() throws {
        func list(_ numbers: [Int]) -> SchemaLineage {
            SchemaLineage(unchecked: numbers.map { SchemaLineage.Member(schema($0)) })
        }
        try list(Array(1...SchemaLineage.countMax)).checkInvariants()
        for numbers in [[1, 2, 1], [], Array(0...SchemaLineage.countMax)] {
            let error = #expect(throws: BrokenInvariant.self) { try list(numbers).checkInvariants() }
            #expect(error?.type == "SchemaLineage")
        }
    }
}
