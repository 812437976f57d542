/// Turns the objects of an archived expression into an expression.
///
/// Classes and fields that it does not know become findings.
struct ArchivedExpression {
    private static let depthMax = 64

    /// Fields and classes that are not known: their names, and the classes of their objects.
    private(set) var unknown: [(name: String, of: String)] = []

    /// The numbers of the kinds of expressions.
    private enum Kind {
        static let constant = 0
        static let object = 1
        static let variable = 2
        static let keyPath = 3
        static let function = 4
        static let path = 10
        static let subquery = 13
        static let list = 14
        static let conditional = 20
        static let fetch = 50
    }

    private static let fields: Set<String> = [
        "NSExpressionType", "NSConstantValue", "NSConstantValueClassName", "NSVariable", "NSVariableExpression",
        "NSKeyPath", "NSOperand", "NSSelectorName", "NSArguments", "NSCollection", "NSCollectionExpression",
        "NSPredicate", "NSTrueExpression", "NSFalseExpression", "NSFRExpression", "NSMOCExpression", "NSCountOnlyFlag",
    ]

    /// The expression of an object; nil for none.
    mutating func expression(_ object: ArchivedObject?) -> MappingExpression? {
        object.map { expression($0, depth: 0) }
    }

    private mutating func expression(_ object: ArchivedObject, depth: Int) -> MappingExpression {
        guard depth < Self.depthMax else { return unreadable("an expression more than \(Self.depthMax) deep") }
        for key in object.keys where !Self.fields.contains(key) {
            unknown.append((key, object.className ?? "an object"))
        }
        switch object["NSExpressionType"]?.integer {
        case Kind.constant: return constant(object["NSConstantValue"], depth: depth)
        case Kind.object: return .object
        case Kind.variable: return .variable(object["NSVariable"]?.text ?? "")
        case Kind.path: return .keyPath(nil, object["NSKeyPath"]?.text ?? "")
        case Kind.keyPath where object["NSSelectorName"] == nil: return .keyPath(nil, object["NSKeyPath"]?.text ?? "")
        case Kind.keyPath, Kind.function: return function(object, depth: depth)
        case Kind.list:
            return .list((object["NSCollection"]?.list ?? []).map { expression($0, depth: depth + 1) })
        case Kind.subquery:
            let variable = object["NSVariable"]?.text ?? object["NSVariableExpression"]?["NSVariable"]?.text ?? ""
            let collection = part(object["NSCollectionExpression"] ?? object["NSCollection"], depth: depth)
            return .subquery(collection, variable, condition(object["NSPredicate"]))
        case Kind.conditional:
            return .conditional(
                condition(object["NSPredicate"]), part(object["NSTrueExpression"], depth: depth),
                part(object["NSFalseExpression"], depth: depth))
        case Kind.fetch:
            return .fetch(
                part(object["NSFRExpression"], depth: depth), part(object["NSMOCExpression"], depth: depth),
                countsOnly: object["NSCountOnlyFlag"]?.integer == 1)
        default: return unreadable(object.className ?? "a value that is no expression")
        }
    }

    private mutating func unreadable(_ name: String) -> MappingExpression {
        unknown.append((name, "an expression"))
        return .unreadable("<\(name)>")
    }

    private mutating func part(_ object: ArchivedObject?, depth: Int) -> MappingExpression {
        object.map { expression($0, depth: depth + 1) } ?? .constant(nil)
    }

    /// A condition inside of an expression, by its text.
    private func condition(_ object: ArchivedObject?) -> MappingPredicate {
        ArchivedPredicate.text(of: object).map { MappingPredicate.reading($0).predicate } ?? .constant(true)
    }

    /// A key path is stored as a call of `valueForKeyPath:`, and a function of the format as one without an operand, or
    /// of a class.
    private mutating func function(_ object: ArchivedObject, depth: Int) -> MappingExpression {
        let name = object["NSSelectorName"]?.text ?? ""
        let arguments = (object["NSArguments"]?.list ?? []).map { expression($0, depth: depth + 1) }
        if name == "valueForKey:" || name == "valueForKeyPath:", arguments.count == 1, let path = arguments[0].pathText
        {
            let operand = object["NSOperand"].map { expression($0, depth: depth + 1) } ?? .object
            return switch operand {
            case .object: .keyPath(nil, path)
            case .keyPath(let start, let first): .keyPath(start, "\(first).\(path)")
            default: .keyPath(operand, path)
            }
        }
        guard let operand = object["NSOperand"], operand["NSConstantValueClassName"] == nil else {
            return .call(name, arguments)
        }
        return .function(expression(operand, depth: depth + 1), name, arguments)
    }

    private mutating func constant(_ object: ArchivedObject?, depth: Int) -> MappingExpression {
        guard let object else { return .constant(nil) }
        if let value = ModelVersion.Value(constant: object) { return .constant(value) }
        guard let list = object.list, depth + 1 < Self.depthMax else {
            return unreadable(object.className ?? "a constant")
        }
        return .list(list.map { constant($0, depth: depth + 1) })
    }
}

extension MappingExpression {
    /// The names of a path from the object itself, or the text of a constant.
    fileprivate var pathText: String? {
        switch self {
        case .keyPath(nil, let path), .constant(.text(let path)): path
        default: nil
        }
    }
}

extension ModelVersion.Value {
    /// The value of an archived constant, by its own type; nil if it has none.
    fileprivate init?(constant object: ArchivedObject) {
        if let text = object.text {
            self = .text(text)
        } else if object.isFlag {
            self = .flag(object.integer == 1)
        } else if let whole = object.integer {
            self = .integer(Int64(whole))
        } else if let number = object.number {
            self = .number(number)
        } else if let date = object.date {
            self = .date(date)
        } else if let id = object.uuid {
            self = .uuid(id)
        } else if let url = object.url {
            self = .url(url)
        } else if object["NS.mantissa"] != nil, let decimal = object.decimal {
            self = .decimal(decimal)
        } else if let data = object.data {
            self = .data(data)
        } else {
            return nil
        }
    }
}
