import FaultlineCoreData

/// Compiled mapping models, with the classes and fields of Core Data.
extension ArchiveWriter {
    /// The classes of an expression, and the fields that all expressions have.
    private mutating func expression(_ name: String, _ type: Int, _ fields: [(String, ListValue)]) -> ListValue {
        object([name, "NSExpression"], [("NSExpressionType", .integer(type))] + fields)
    }

    mutating func value(_ value: ModelVersion.Value?) -> ListValue {
        switch value {
        case nil: Self.null
        case .flag(let flag): add(.flag(flag))
        case .integer(let number): add(.integer(Int(number)))
        case .number(let number): add(.number(number))
        case .text(let value): text(value)
        case .date(let date): object(["NSDate"], [("NS.time", .number(date.timeIntervalSinceReferenceDate))])
        case .data(let data): add(.data(data))
        case .uuid(let id): text(id.uuidString)
        case .url(let url): object(["NSURL"], [("NS.relative", text(url.absoluteString))])
        case .decimal(let decimal):
            object(
                ["NSDecimalNumber", "NSNumber"],
                [
                    ("NS.mantissa", .data(Data([UInt8(truncating: decimal as NSDecimalNumber), 0]))),
                    ("NS.exponent", .integer(0)), ("NS.length", .integer(1)), ("NS.mantissa.bo", .integer(1)),
                    ("NS.negative", .flag(false)),
                ])
        }
    }

    /// An expression as Core Data archives it.
    mutating func expression(_ expression: MappingExpression) -> ListValue {
        switch expression {
        case .constant(let constant):
            return self.expression("NSConstantValueExpression", 0, [("NSConstantValue", value(constant))])
        case .variable(let name): return self.expression("NSVariableExpression", 2, [("NSVariable", text(name))])
        case .object: return self.expression("NSSelfExpression", 1, [])
        case .keyPath(let operand, let path):
            let names = self.expression("NSKeyPathSpecifierExpression", 10, [("NSKeyPath", text(path))])
            return call("valueForKeyPath:", on: self.expression(operand ?? .object), [names], "NSKeyPathExpression")
        case .function(let operand, let name, let arguments):
            let values = arguments.map { self.expression($0) }
            return call(name, on: self.expression(operand), values, "NSFunctionExpression")
        case .call(let name, let arguments):
            let values = arguments.map { self.expression($0) }
            let functions = self.expression(
                "NSConstantValueExpression", 0, [("NSConstantValueClassName", text("_NSPredicateUtilities"))])
            return call(name, on: functions, values, "NSFunctionExpression")
        case .list(let members):
            let values = members.map { self.expression($0) }
            return self.expression("NSAggregateExpression", 14, [("NSCollection", array(values))])
        case .fetch(let request, let context, let countsOnly):
            return self.expression(
                "NSFetchRequestExpression", 50,
                [
                    ("NSFRExpression", self.expression(request)), ("NSMOCExpression", self.expression(context)),
                    ("NSCountOnlyFlag", .flag(countsOnly)),
                ])
        case .subquery(let collection, let name, let predicate):
            return self.expression(
                "NSSubqueryExpression", 13,
                [
                    ("NSCollectionExpression", self.expression(collection)), ("NSVariable", text(name)),
                    ("NSPredicate", self.predicate(predicate)),
                ])
        case .conditional(let predicate, let first, let second):
            return self.expression(
                "NSTernaryExpression", 20,
                [
                    ("NSPredicate", self.predicate(predicate)), ("NSTrueExpression", self.expression(first)),
                    ("NSFalseExpression", self.expression(second)),
                ])
        case .unreadable: return self.expression("NSBlockExpression", 19, [])
        }
    }

    private mutating func call(
        _ name: String, on operand: ListValue, _ arguments: [ListValue], _ type: String
    ) -> ListValue {
        object(
            [type, "NSFunctionExpression", "NSExpression"],
            [
                ("NSExpressionType", .integer(4)), ("NSSelectorName", text(name)), ("NSOperand", operand),
                ("NSArguments", array(arguments)),
            ])
    }

    /// A comparison by `==`, or a constant condition.
    private mutating func predicate(_ predicate: MappingPredicate) -> ListValue {
        guard case .comparison(let comparison) = predicate else {
            return object([predicate == .constant(false) ? "NSFalsePredicate" : "NSTruePredicate", "NSPredicate"], [])
        }
        let sign = object(["NSEqualityPredicateOperator", "NSPredicateOperator"], [("NSOperatorType", .integer(4))])
        return object(
            ["NSComparisonPredicate", "NSPredicate"],
            [
                ("NSLeftExpression", expression(comparison.left)), ("NSRightExpression", expression(comparison.right)),
                ("NSPredicateOperator", sign),
            ])
    }

    /// The expression that fetches the old objects.
    private static func fetch(_ entity: String, _ condition: String?) -> MappingExpression {
        .fetch(
            .function(
                .variable("manager"), "fetchRequestForSourceEntityNamed:predicateString:",
                [.text(entity), .text(condition ?? "TRUEPREDICATE")]), .keyPath(.variable("manager"), "sourceContext"),
            countsOnly: false)
    }

    private mutating func property(_ property: WrittenMapping.Property) -> ListValue {
        object(
            ["NSPropertyMapping"],
            [
                ("NSDestinationPropertyName", text(property.name)),
                ("NSValueExpression", property.expression.map { expression($0) } ?? Self.null),
                ("NSUserInfo", Self.null), ("NSPropertyTransforms", Self.null),
            ])
    }

    /// A mapping as Core Data compiles it.
    mutating func mapping(
        _ mapping: WrittenMapping, kind: Int, hashes: (source: Data?, destination: Data?) = (nil, nil),
        _ fields: [(String, ListValue)] = []
    ) -> ListValue {
        let attributes = mapping.properties.filter { !$0.isRelationship }.map { property($0) }
        let relationships = mapping.properties.filter(\.isRelationship).map { property($0) }
        let pairs = mapping.userInfo.sorted { $0.key < $1.key }.map { ($0.key, text($0.value)) }
        let fetch = mapping.from.map { expression(Self.fetch($0, mapping.condition)) }
        return object(
            ["NSEntityMapping"],
            [
                ("NSMappingName", mapping.name.map { text($0) } ?? Self.null), ("NSMappingType", .integer(kind)),
                ("NSSourceEntityName", mapping.from.map { text($0) } ?? Self.null),
                ("NSDestinationEntityName", mapping.to.map { text($0) } ?? Self.null),
                ("NSSourceEntityVersionHash", hashes.source.map { add(.data($0)) } ?? Self.null),
                ("NSDestinationEntityVersionHash", hashes.destination.map { add(.data($0)) } ?? Self.null),
                ("NSSourceExpression", fetch ?? Self.null),
                ("NSEntityMigrationPolicyClassName", mapping.policy.map { text($0) } ?? Self.null),
                ("NSAttributeMappings", array(attributes)), ("NSRelationshipMappings", array(relationships)),
                ("NSUserInfo", pairs.isEmpty ? Self.null : dictionary(pairs)),
            ] + fields)
    }

    /// The bytes of a compiled mapping model.
    mutating func mappingModel(_ mappings: [ListValue], _ fields: [(String, ListValue)] = []) -> Data {
        let root = object(["NSMappingModel"], [("NSEntityMappings", array(mappings))] + fields)
        return archive(root)
    }

    /// The bytes of a compiled mapping model, whose kinds follow from the mappings.
    static func mappingModel(_ mappings: [WrittenMapping]) -> Data {
        var writer = ArchiveWriter()
        let written = mappings.map { mapping in
            let kind = mapping.policy != nil ? 1 : mapping.from == nil ? 2 : mapping.to == nil ? 3 : 5
            return writer.mapping(mapping, kind: kind)
        }
        return writer.mappingModel(written)
    }
}
