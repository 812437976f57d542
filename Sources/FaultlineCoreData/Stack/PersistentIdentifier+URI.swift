public import FaultlineObjects
public import Foundation

extension PersistentIdentifier {
    /// A URL for the identifier, as Core Data writes it: `x-coredata://STORE/ENTITY/pNUMBER`.
    ///
    ///     let link = photo.persistentModelID.uriRepresentation()
    ///
    /// That of an unsaved object, whose identifier is for this process alone, has no store and no number.
    ///
    /// - Complexity: O(n) for n bytes of the entity's name.
    public func uriRepresentation() -> URL {
        var parts = URLComponents()
        parts.scheme = "x-coredata"
        parts.host = storeIdentifier ?? ""
        parts.path = "/\(entityName)/" + (primaryKeyText.map { "p\($0)" } ?? "t")
        return parts.url ?? URL(filePath: "/dev/null")
    }

    /// Reads such a URL, which may come from a client; nil for any other.
    init?(uriRepresentation url: URL) {
        guard url.scheme == "x-coredata", let store = url.host(percentEncoded: false) else { return nil }
        let parts = url.path(percentEncoded: false).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, parts[2].first == "p",
            let identifier = try? PersistentIdentifier.identifier(
                for: store, entityName: String(parts[1]), primaryKey: String(parts[2].dropFirst()))
        else { return nil }
        self = identifier
    }
}
