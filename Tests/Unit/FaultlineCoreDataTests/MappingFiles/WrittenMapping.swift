import FaultlineCoreData

/// A mapping that a test writes into a file.
struct WrittenMapping {
    /// A property of a mapping.
    struct Property {
        var name: String
        var isRelationship = false
        /// The value; nil if the file leaves it open.
        var expression: MappingExpression?
        /// The path and the mapping that stand in place of an expression.
        var path: String?
        var mapping: String?
        /// Further XML inside of the object.
        var inside = ""

        static func attribute(_ name: String, _ expression: MappingExpression? = nil) -> Property {
            Property(name: name, expression: expression)
        }

        static func relationship(_ name: String, _ expression: MappingExpression? = nil) -> Property {
            Property(name: name, isRelationship: true, expression: expression)
        }
    }

    var name: String?
    var from: String?
    var to: String?
    var policy: String?
    /// The text of the condition.
    var condition: String?
    var userInfo: [String: String] = [:]
    /// Further XML inside of the object.
    var inside = ""
    var properties: [Property] = []
}

extension MappingExpression {
    /// A path of names in the old object.
    static func source(_ path: String) -> MappingExpression { .keyPath(.variable("source"), path) }

    static func text(_ text: String) -> MappingExpression { .constant(.text(text)) }

    /// The new objects of the objects at a path, by a mapping.
    static func destinations(_ mapping: String, _ members: MappingExpression) -> MappingExpression {
        .function(
            .variable("manager"), "destinationInstancesForEntityMappingNamed:sourceInstances:",
            [.text(mapping), members])
    }
}
