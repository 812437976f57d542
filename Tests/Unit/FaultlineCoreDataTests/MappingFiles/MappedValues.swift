import FaultlineCoreData
import FaultlineTestSupport

/// Migrates one employee by expressions, and reads the values.
enum MappedValues {
    /// Makes the value that an expression `given` stands for.
    typealias Given = @Sendable () -> Any?

    /// The expression of a given value, by its number.
    static func given(_ index: Int) -> MappingExpression {
        .function(.variable("entityPolicy"), "given:", [.constant(.integer(Int64(index)))])
    }

    /// The values of the expressions, as attributes of some types.
    static func of(_ expressions: [(type: String, MappingExpression)], _ given: [Given] = []) throws -> [Any?] {
        let names = expressions.indices.map { "v\($0)" }
        let company = try CompanyPackage(
            new: zip(names, expressions).map { ModelText.attribute($0, $1.type) }.joined())
        let place = StorePlace()
        try company.makeStore(in: place, count: 1)
        var mappings = CompanyPackage.mappings
        mappings[0].policy = nil
        mappings[0].properties += zip(names, expressions).map { .attribute($0, $1.1) }
        let mapping = try MappingModelFile(xml: MappingText.model(mappings), name: "M").mappingModel(
            from: company.old, to: company.new,
            functions: ["given:": { arguments, _ in (arguments[0] as? Int).flatMap { given[$0]() } }])
        return try place.use(company.new, mapping: mapping, dropping: true) { _, context in
            let employee = try context.all("Employee").first
            return names.map { employee?[$0] }
        }
    }

    /// The reason why an expression has no value; nil if it has one.
    static func failure(of expression: MappingExpression, _ type: String, _ given: [Given] = []) -> String? {
        do {
            _ = try of([(type, expression)], given)
            return nil
        } catch let error as MigrationError {
            return error.cause.map { "\($0)" } ?? "\(error)"
        } catch { return "\(error)" }
    }

    /// The mappings of a company without code, after a change.
    static func file(_ change: (inout [WrittenMapping]) -> Void) throws -> MappingModelFile {
        var mappings = CompanyPackage.mappings
        mappings[0].policy = nil
        change(&mappings)
        return try MappingModelFile(xml: MappingText.model(mappings), name: "M")
    }
}
