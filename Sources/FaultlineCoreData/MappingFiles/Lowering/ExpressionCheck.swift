internal import FaultlineModel
internal import FaultlineObjects

/// Checks that `ExpressionEvaluator` can compute an expression, and that all names in it are known.
struct ExpressionCheck {
    let mapping: MappingModelFile.Mapping
    let entity: Schema.Entity
    let schema: Schema
    /// The functions of `$entityPolicy` by the names that expressions call them by.
    let functions: PolicyFunctions
    private(set) var problems: [MappingProblem] = []

    init(
        _ mapping: MappingModelFile.Mapping, _ entity: Schema.Entity, in schema: Schema, _ functions: PolicyFunctions
    ) {
        self.mapping = mapping
        self.entity = entity
        self.schema = schema
        self.functions = functions
    }

    mutating func check(_ expression: MappingExpression) {
        switch expression {
        case .constant, .variable("source"), .object: break
        case .keyPath(.variable("entityMapping"), let path):
            if mapping.fact(path) == nil {
                refuse(expression, "The mapping has no \(path).")
            }
        case .keyPath(nil, let path), .keyPath(.variable("source"), let path), .keyPath(.object, let path):
            if let problem = Self.problem(path, of: entity, in: schema) { problems.append(problem) }
        case .keyPath(let operand?, let path):
            if path.contains("@") {
                refuse(expression, "An operator stands only after a relationship of $source.")
            } else if !Self.mayGiveObjects(operand),
                let name = path.split(separator: ".").first(where: { ExpressionCalls.methods[String($0)] != 0 })
            {
                refuse(expression, "A computed value has no \(name).")
            }
            check(operand)
        case .list(let members): for member in members { check(member) }
        case .call(let name, let arguments):
            check(name, ExpressionCalls.accepts(name, arguments.count), ExpressionCalls.functions, expression)
            if name == "castObject:toType:", arguments.count == 2,
                !ExpressionCalls.types.contains(arguments[1].constantText ?? "")
            {
                refuse(expression, "A value is cast to \(ExpressionCalls.types.joined(separator: ", ")) only.")
            }
            for argument in arguments { check(argument) }
        case .function(.variable("entityPolicy"), let name, let arguments):
            if let problem = functions.problem(name) { problems.append(problem) }
            for argument in arguments where argument != .variable("manager") { check(argument) }
        case .function(.variable("manager"), let name, let arguments):
            guard CounterpartCall.all.contains(name), arguments.count == 2, arguments[0].constantText != nil else {
                refuse(expression, "The manager has this call for objects by a mapping only.")
                return
            }
            check(arguments[1])
        case .function(let operand, let name, let arguments):
            check(name, ExpressionCalls.methods[name] == arguments.count, ExpressionCalls.methods, expression)
            check(operand)
            for argument in arguments { check(argument) }
        case .variable(let name):
            refuse(expression, "The variable $\(name) has no value here. Compute the value in a policy.")
        case .fetch, .subquery, .conditional:
            refuse(expression, "It has no equivalent. Compute the value in a policy.")
        case .unreadable: refuse(expression, "It cannot be read. Compute the value in a policy.")
        }
    }

    private mutating func refuse(_ expression: MappingExpression, _ reason: String) {
        problems.append(MappingProblem(.unexpressed, "\(expression)", reason))
    }

    private mutating func check(
        _ name: String, _ isAccepted: Bool, _ known: [String: Int], _ expression: MappingExpression
    ) {
        guard !isAccepted else { return }
        let reason =
            known[name].map { "\(name) has \($0) arguments." }
            ?? "The function \(name) is not known. Compute the value in a policy."
        refuse(expression, reason)
    }

    /// Whether the value of an expression can be an object or a list of objects.
    private static func mayGiveObjects(_ expression: MappingExpression) -> Bool {
        switch expression {
        case .variable, .object, .function(.variable, _, _), .fetch, .subquery, .conditional, .unreadable: true
        case .keyPath(let operand, _): operand != .variable("entityMapping")
        case .list(let members), .call("noindex:", let members): members.contains(where: mayGiveObjects)
        case .constant, .call, .function: false
        }
    }

    // MARK: Paths

    private static let reducing = ["@sum", "@avg", "@min", "@max"]

    /// The first name of a path that is not known, or the operator that has no equivalent.
    static func problem(_ path: String, of entity: Schema.Entity, in schema: Schema) -> MappingProblem? {
        var names = JoinedPath(path).names.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        var entity = entity
        var isCollection = false
        while let name = names.popFirst() {
            if name.hasPrefix("@") {
                guard isCollection else {
                    return MappingProblem(.unexpressed, path, "\(name) follows no to-many relationship.")
                }
                if name == "@count", names.isEmpty { return nil }
                guard reducing.contains(name), !names.isEmpty else {
                    return MappingProblem(
                        .unexpressed, path,
                        "The operator \(name) has no equivalent here: @count stands last, @sum, @avg, @min and @max before a number."
                    )
                }
                continue
            }
            guard let property = entity.properties.first(where: { $0.name == name }) else {
                return MappingProblem(.unknownName, path, NearestName.unknown(name, among: entity))
            }
            guard let relationship = property.asRelationship else {
                // The parts of a composite attribute, and calls such as `length`.
                let isKnown =
                    property is Schema.CompositeAttribute || names.allSatisfy { ExpressionCalls.methods[$0] == 0 }
                return isKnown
                    ? nil
                    : MappingProblem(.unknownName, path, "\(entity.name).\(name) is an attribute; nothing follows it.")
            }
            isCollection = isCollection || !relationship.isToOneRelationship
            guard let next = schema.entitiesByName[relationship.destination] else { return nil }
            entity = next
        }
        return nil
    }
}
