import FaultlineLog

/// Addresses within the site: each is relative to the page's base, which has the token.
struct Link {
    private let path: String

    private init(_ parts: String...) { path = parts.map(PercentCoding.encode).joined(separator: "/") }

    static let overview = Link()
    static let history = Link("history")
    static let space = Link("space")
    static let style = Link("style.css")

    static func entity(_ name: String) -> Link { Link("entity", name) }
    static func object(_ entity: String, _ id: RecordID) -> Link { Link("object", entity, "\(id)") }
    static func members(_ entity: String, _ id: RecordID, _ property: String) -> Link {
        Link("members", entity, "\(id)", property)
    }
    static func value(_ entity: String, _ id: RecordID, _ property: String) -> Link {
        Link("value", entity, "\(id)", property)
    }
    static func transaction(_ number: UInt64) -> Link { Link("transaction", "\(number)") }

    /// The address under the base of a page.
    func address(_ base: String, _ query: [(String, String)] = []) -> String {
        guard !query.isEmpty else { return base + path }
        let items = query.map { PercentCoding.encode($0.0) + "=" + PercentCoding.encode($0.1) }
        return base + path + "?" + items.joined(separator: "&")
    }
}
