internal import Foundation

/// The files of a model package: one for each version, and the name of the current one.
struct ModelFolder {
    /// One version of a package.
    struct File {
        let url: URL
        let name: String

        /// Reads the version.
        func version() throws(ModelFileError) -> ModelVersion {
            let bytes = try ModelFolder.bytes(of: url)
            return url.pathExtension == "mom"
                ? try ModelVersion(compiled: bytes, name: name, path: url.path)
                : try ModelVersion(xml: bytes, name: name, path: url.path)
        }
    }

    /// The versions in their order.
    let files: [File]
    /// The name of the current version; nil if the package does not say it.
    let currentName: String?

    private static let versionCountMax = 1_000

    init(_ url: URL) throws(ModelFileError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw ModelFileError(.missing, url.path, "There is no such file. Give an .xcdatamodeld or a .momd.")
        }
        let name = url.deletingPathExtension().lastPathComponent
        switch (url.pathExtension, isFolder.boolValue) {
        case ("xcdatamodeld", true):
            let versions = try Self.contents(of: url, "xcdatamodel")
            files = try versions.map { (version) throws(ModelFileError) in try Self.file(ofVersion: version) }
            currentName = try Self.currentName(in: url)
        case ("xcdatamodel", true):
            files = [try Self.file(ofVersion: url)]
            currentName = name
        case ("momd", true):
            let versions = try Self.contents(of: url, "mom")
            files = versions.map { File(url: $0, name: $0.deletingPathExtension().lastPathComponent) }
            currentName = try Self.compiledCurrentName(in: url)
        case ("mom", false):
            files = [File(url: url, name: name)]
            currentName = name
        case (_, false) where url.lastPathComponent == "contents":
            let parent = url.deletingLastPathComponent().deletingPathExtension().lastPathComponent
            files = [File(url: url, name: parent)]
            currentName = parent
        default:
            throw ModelFileError(
                .foreign, url.path,
                "It is no model. Give an .xcdatamodeld or .xcdatamodel, or a .momd or .mom of an app.")
        }
        guard !files.isEmpty else {
            throw ModelFileError(.missing, url.path, "The package has no version. Copy it again with its folders.")
        }
        guard files.count <= Self.versionCountMax else {
            throw ModelFileError(
                .tooLarge, url.path,
                "The package has \(files.count) versions; \(Self.versionCountMax) is the most.")
        }
    }

    /// The entries of a folder with an extension, numbers in names by their value.
    private static func contents(of folder: URL, _ pathExtension: String) throws(ModelFileError) -> [URL] {
        let all: [URL]
        do {
            all = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        } catch {
            throw ModelFileError(.unreadable, folder.path, "The folder cannot be read. \(error.localizedDescription)")
        }
        return all.filter { $0.pathExtension == pathExtension }.sorted { left, right in
            let names = [left, right].map { $0.deletingPathExtension().lastPathComponent }
            let order = names[0].compare(names[1], options: .numeric)
            return order == .orderedSame ? names[0] < names[1] : order == .orderedAscending
        }
    }

    /// The file of an `.xcdatamodel`.
    private static func file(ofVersion folder: URL) throws(ModelFileError) -> File {
        let contents = folder.appendingPathComponent("contents")
        guard FileManager.default.fileExists(atPath: contents.path) else {
            let isOld = FileManager.default.fileExists(atPath: folder.appendingPathComponent("elements").path)
            throw isOld
                ? ModelFileError(
                    .older, folder.path,
                    "An Xcode before 4.3 wrote it. Save it once in a newer Xcode, or give the compiled .mom.")
                : ModelFileError(.missing, contents.path, "The version has no file `contents`. Copy it again.")
        }
        return File(url: contents, name: folder.deletingPathExtension().lastPathComponent)
    }

    /// The name in `.xccurrentversion`; nil if there is no such file.
    private static func currentName(in folder: URL) throws(ModelFileError) -> String? {
        let url = folder.appendingPathComponent(".xccurrentversion")
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let name = try text("_XCCurrentVersionName", in: bytes(of: url), url.path)
        return name.map { URL(filePath: $0).deletingPathExtension().lastPathComponent }
    }

    /// The name in `VersionInfo.plist`; nil if there is no such file.
    private static func compiledCurrentName(in folder: URL) throws(ModelFileError) -> String? {
        let url = folder.appendingPathComponent("VersionInfo.plist")
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try text("NSManagedObjectModel_CurrentVersionName", in: bytes(of: url), url.path)
    }

    /// The text under a key of a property list, binary or in XML; nil if it does not have the key.
    private static func text(_ key: String, in bytes: Data, _ path: String) throws(ModelFileError) -> String? {
        if bytes.starts(with: BinaryPropertyList.magic) {
            let list = try BinaryPropertyList(bytes, path: path)
            guard case .dictionary(let members) = list[list.root], let position = members[key],
                case .text(let text) = list[position]
            else { return nil }
            return text
        }
        let root = try MarkupReader.root(of: bytes, path: path)
        guard root.name == "plist" else {
            throw ModelFileError(
                .foreign, path, line: root.line,
                "The outermost element is \(root.name), where a property list has `plist`.")
        }
        let parts = root.children(named: "dict").first?.children ?? []
        guard let index = parts.firstIndex(where: { $0.name == "key" && $0.text == key }),
            parts.indices.contains(index + 1), parts[index + 1].name == "string"
        else { return nil }
        return parts[index + 1].text
    }

    /// The bytes of a file that is not too large.
    static func bytes(of url: URL) throws(ModelFileError) -> Data {
        do {
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            // One byte more than allowed shows that there are too many.
            return try file.read(upToCount: ModelVersion.byteCountMax + 1) ?? Data()
        } catch {
            throw ModelFileError(.unreadable, url.path, "The file cannot be read. \(error.localizedDescription)")
        }
    }
}
