/// Something in a model file that is not carried over into a `Schema`, or that is not known.
///
///     for finding in try ModelPackage(contentsOf: url).findings { print(finding) }
///
/// A finding never ends the reading.
public struct ModelFinding: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of findings.
    public enum Kind: String, Sendable, CaseIterable {
        /// The file has an element, attribute, key, class or value that this release does not know.
        case unknown
        /// The model has it, and `ModelVersion` keeps it, but a `Schema` cannot express it.
        case unexpressed
        /// The model contradicts itself, and the schema leaves the part out.
        case invalid
    }

    /// The kind of the finding.
    public let kind: Kind
    /// The name of the element, attribute, key or class, as the file has it.
    public let name: String
    /// The place in the model, such as `Book.title`; empty for the model itself.
    public let place: String
    /// The line of the file, from 1; nil for compiled models.
    public let line: Int?
    /// The effect, and the remedy if there is one.
    public let reason: String

    init(_ kind: Kind, _ name: String, at place: String, line: Int? = nil, _ reason: String) {
        self.kind = kind
        self.name = name
        self.place = place
        self.line = line
        self.reason = reason
    }

    /// The place, the name, and the reason.
    public var description: String {
        let line = line.map { " (line \($0))" } ?? ""
        return "\(place.isEmpty ? "" : "\(place): ")\(name)\(line): \(reason)"
    }
}
