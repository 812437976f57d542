/// An element of an XML file, with its attributes, the elements inside it, and its text.
struct MarkupElement {
    let name: String
    let attributes: [String: String]
    /// The line at which its start tag ends, from 1.
    let line: Int
    var children: [MarkupElement] = []
    var text = ""

    /// The elements inside it that have a name.
    func children(named name: String) -> [MarkupElement] { children.filter { $0.name == name } }
}
