/// The text that a fingerprint hashes.
///
/// It has one fact on each line, with names in quotes, so that no name can imitate the line of another.
///
/// The text includes names, kinds, optionality, transience, destination, inverse and counts of relationships,
/// uniqueness constraints, hash modifiers and composite shapes. It excludes default values, delete rules, original
/// names, indexes, external storage, and the order of declarations. Changing the text changes every existing
/// fingerprint, so its first line has a version number.
extension Schema {
    /// A hash that is equal for two schemas whose rows mean the same, even with different version numbers.
    ///
    /// - Complexity: O(n log n) for n properties.
    public var fingerprint: Fingerprint {
        Schema.fingerprint(
            of: entities.sorted { precedes($0.name, $1.name) }.map { (quoted($0.name), $0.fingerprint) })
    }

    /// Whether both have the same fingerprint, which is not computed if they are equal.
    package func meansTheSame(as other: Schema) -> Bool { self == other || fingerprint == other.fingerprint }

    /// Returns the fingerprint of a schema with these entities, which are given in order, with their names in quotes
    /// and their fingerprints.
    static func fingerprint(of entities: [(quotedName: String, fingerprint: Fingerprint)]) -> Fingerprint {
        let lines = entities.map { "\($0.quotedName) \($0.fingerprint)" }
        return Fingerprint(of: (["faultline schema 1"] + lines).joined(separator: "\n"))
    }
}

extension Schema.Entity {
    /// A hash that is equal for two entities whose rows mean the same.
    ///
    /// - Complexity: O(n log n) for n properties and names in constraints.
    public var fingerprint: Fingerprint { Fingerprint(of: canonicalText) }

    var canonicalText: String {
        var lines = ["faultline entity 1", "name \(quoted(name))", "super \(quoted(superentityName))"]
        for property in properties.sorted(by: { precedes($0.name, $1.name) }) {
            if let attribute = property.asAttribute { lines += attribute.canonicalLines(prefix: "") }
            if let relationship = property.asRelationship { lines.append(relationship.canonicalLine) }
        }
        lines += allUniquenessConstraints.map { "unique " + $0.map(quoted).joined(separator: " ") }
        for heir in heirs {
            lines.append("heir \(quoted(heir.name)) of \(quoted(heir.superName))")
            lines += heir.columns.sorted { precedes($0.property, $1.property) }.map {
                ". property \(quoted($0.property)) column \(quoted($0.column)) optional \($0.isOptional)"
            }
        }
        return lines.joined(separator: "\n")
    }
}

extension Schema.Attribute {
    fileprivate func canonicalLines(prefix: String) -> [String] {
        let line = """
            \(prefix)attribute \(quoted(name)) kind \(kind.rawValue) optional \(isOptional) transient \(isTransient) \
            modifier \(quoted(hashModifier))
            """
        guard let composite = self as? Schema.CompositeAttribute else { return [line] }
        let members = composite.properties.sorted { precedes($0.name, $1.name) }
        return [line] + members.flatMap { $0.canonicalLines(prefix: prefix + ". ") }
    }
}

extension Schema.Relationship {
    fileprivate var canonicalLine: String {
        """
        relationship \(quoted(name)) to \(quoted(destination)) many \(!isToOneRelationship) optional \(isOptional) \
        inverse \(quoted(inverseName)) least \(minimumModelCount ?? 0) most \(maximumModelCount ?? 0) \
        modifier \(quoted(hashModifier))
        """
    }
}

/// Returns the text in quotes, with quotes and backslashes escaped, or a dash for nil.
func quoted(_ text: String?) -> String {
    guard let text else { return "-" }
    var quoted = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": quoted += "\\\(scalar)"
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted + "\""
}

/// Orders names by their bytes.
///
/// The order of strings may change with a new version of Unicode.
func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
}
