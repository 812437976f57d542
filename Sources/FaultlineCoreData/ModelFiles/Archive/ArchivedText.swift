/// Writes archived values as text, for people.
enum ArchivedText {
    private static let depthMax = 16

    /// Texts by keys; other values as text.
    static func pairs(_ object: ArchivedObject?) -> [String: String] {
        Dictionary((object?.dictionary ?? []).map { ($0.key, text(of: $0.value, depth: 0)) }) { first, _ in first }
    }

    private static func text(of value: ArchivedObject, depth: Int) -> String {
        if let text = value.text { return text }
        if value.isFlag { return value.integer == 1 ? "YES" : "NO" }
        if let integer = value.integer { return "\(integer)" }
        if let number = value.number { return "\(number)" }
        guard depth < depthMax else { return "" }
        if let list = value.list {
            return "(" + list.map { text(of: $0, depth: depth + 1) }.joined(separator: ", ") + ")"
        }
        let pairs = (value.dictionary ?? []).map { "\($0.key) = \(text(of: $0.value, depth: depth + 1))" }
        return "{" + pairs.joined(separator: "; ") + "}"
    }
}
