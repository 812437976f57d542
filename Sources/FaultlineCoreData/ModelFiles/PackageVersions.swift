internal import Foundation

/// The file of a package that says which versions it has: `VersionInfo.plist`, with the hashes of all, or
/// `.xccurrentversion`.
struct PackageVersions {
    /// The name of the current version; nil if the file does not say it.
    private(set) var currentName: String?
    /// The hashes of entities, by the names of versions and entities.
    private(set) var hashes: [String: [String: Data]] = [:]

    private static let currentKeys = ["NSManagedObjectModel_CurrentVersionName", "_XCCurrentVersionName"]
    private static let hashesKey = "NSManagedObjectModel_VersionHashes"

    /// Reads a property list, binary or in XML.
    init(_ bytes: Data, path: String) throws(ModelFileError) {
        if bytes.starts(with: BinaryPropertyList.magic) {
            self.init(try BinaryPropertyList(bytes, path: path))
        } else {
            self.init(try MarkupList(bytes, path: path))
        }
    }

    private init(_ list: BinaryPropertyList) {
        guard case .dictionary(let top) = list[list.root] else { return }
        let current = Self.currentKeys.compactMap { top[$0] }.first
        if let current, case .text(let name) = list[current] { currentName = name }
        guard let position = top[Self.hashesKey], case .dictionary(let versions) = list[position] else { return }
        for (version, position) in versions {
            guard case .dictionary(let entities) = list[position] else { continue }
            hashes[version] = entities.compactMapValues { position in
                if case .data(let hash) = list[position] { hash } else { nil }
            }
        }
    }

    private init(_ list: MarkupList) {
        let current = Self.currentKeys.compactMap { list[$0] }.first
        currentName = current.flatMap { $0.name == "string" ? $0.text : nil }
        guard let versions = list[Self.hashesKey] else { return }
        for (version, entities) in MarkupList.pairs(versions) {
            hashes[version] = Dictionary(
                MarkupList.pairs(entities).compactMap { name, element in
                    Data(base64Encoded: element.text, options: .ignoreUnknownCharacters).map { (name, $0) }
                }
            ) { first, _ in first }
        }
    }
}
