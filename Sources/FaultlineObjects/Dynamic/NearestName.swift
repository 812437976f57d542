package import FaultlineModel

/// Finds the name that was probably meant, for messages about an unknown name.
package enum NearestName {
    /// The message that an entity has no property of a name, with the nearest name.
    package static func unknown(_ key: String, among entity: Schema.Entity) -> String {
        let names = entity.properties.map(\.name)
        let hint = nearest(to: key, among: names).map { "Did you mean \"\($0)\"?" }
        let all = names.count <= 12 ? "It has \(names.joined(separator: ", "))." : "It has \(names.count) others."
        return "\(entity.name) has no property \"\(key.excerpt)\". \(hint ?? all)"
    }

    /// Longer text is not searched: the search takes time for each of its scalars.
    private static let nameByteCountMax = 512

    /// The name that needs the fewest changes, if they are few for its length.
    package static func nearest(to name: String, among names: [String]) -> String? {
        guard name.utf8.count <= nameByteCountMax else { return nil }
        let wanted = Array(name.lowercased().unicodeScalars)
        var best: (name: String, distance: Int)?
        for candidate in names {
            let distance = distance(wanted, Array(candidate.lowercased().unicodeScalars))
            if distance <= max(1, wanted.count / 3), distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// The number of insertions, deletions and replacements that turn one into the other (Wagner and Fischer, 1974).
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var row = Array(0...right.count)
        for (place, scalar) in left.enumerated() {
            var diagonal = row[0]
            row[0] = place + 1
            for other in right.indices {
                let replaced = diagonal + (scalar == right[other] ? 0 : 1)
                diagonal = row[other + 1]
                row[other + 1] = min(replaced, row[other] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
