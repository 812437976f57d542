/// A name with the name in older schemas.
struct NameLineage {
    let name: String
    let originalName: String

    var isRenamed: Bool { name != originalName }
}

/// Finds, for each name of a new schema, the name of the old schema with the same meaning.
///
/// The rules apply in order; each old name is used once. A renamed item matches itself if both sides have the same
/// lineage, then the old name that it was renamed from, then an old item renamed from the same name. Any other item
/// matches the same name, then an old item with the same original name. An explicit rename thus has priority over a new
/// property that took the old name.
func matchedNames(from old: [NameLineage], to new: [NameLineage]) -> [String: String] {
    typealias Rule = (_ new: NameLineage, _ old: NameLineage) -> Bool
    let rules: [Rule] = [
        { $0.isRenamed && $0.name == $1.name && $0.originalName == $1.originalName },
        { $0.isRenamed && $0.originalName == $1.name },
        { $0.isRenamed && $0.originalName == $1.originalName },
        { $0.name == $1.name },
        { $0.originalName == $1.originalName },
    ]
    var matches: [String: String] = [:]
    var taken: Set<String> = []
    for rule in rules {
        for item in new where matches[item.name] == nil {
            guard let match = old.first(where: { !taken.contains($0.name) && rule(item, $0) }) else { continue }
            matches[item.name] = match.name
            taken.insert(match.name)
        }
    }
    return matches
}
