/// A maintainer as the package database writes it, `Name <mail>`, split into its parts.
package struct WrittenMaintainer: Hashable, Sendable {
    package let name: String
    /// Empty where there is no address in angle brackets at the end.
    package let mail: String

    package init(_ text: String) {
        guard text.hasSuffix(">"), let open = text.lastIndex(of: "<") else {
            name = text
            mail = ""
            return
        }
        var name = text[..<open]
        while name.hasSuffix(" ") { name.removeLast() }
        self.name = String(name)
        mail = String(text[text.index(after: open)...].dropLast())
    }
}
