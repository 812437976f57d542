internal import Foundation

/// A property list in XML.
struct MarkupList {
    private let top: MarkupElement?

    init(_ bytes: Data, path: String) throws(ModelFileError) {
        let root = try MarkupReader.root(of: bytes, path: path)
        guard root.name == "plist" else {
            throw ModelFileError(
                .foreign, path, line: root.line,
                "The outermost element is \(root.name), where a property list has `plist`.")
        }
        top = root.children(named: "dict").first
    }

    /// The value under a key of the outermost dictionary.
    subscript(key: String) -> MarkupElement? { top.map(Self.pairs)?.first { $0.key == key }?.value }

    /// The keys and values of a dictionary.
    static func pairs(_ element: MarkupElement) -> [(key: String, value: MarkupElement)] {
        zip(element.children, element.children.dropFirst()).compactMap { key, value in
            key.name == "key" && value.name != "key" ? (key.text, value) : nil
        }
    }
}
