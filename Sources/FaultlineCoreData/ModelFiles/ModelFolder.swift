internal import Foundation

/// The files of a model package: one for each version, and the name of the current one.
struct ModelFolder {
    /// One version of a package.
    struct File {
        let url: URL
        let name: String
        /// The hashes of its entities, if the package has them.
        var entityHashes: [String: Data] = [:]

        /// Reads the version.
        func version() throws(ModelFileError) -> ModelVersion {
            let bytes = try ModelFolder.bytes(of: url)
            var version =
                url.pathExtension == "mom"
                ? try ModelVersion(compiled: bytes, name: name, path: url.path)
                : try ModelVersion(xml: bytes, name: name, path: url.path)
            version.entityHashes = entityHashes
            return version
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
            let current = try Self.versionInfo(".xccurrentversion", in: url)?.currentName
            currentName = current.map { URL(filePath: $0).deletingPathExtension().lastPathComponent }
        case ("xcdatamodel", true):
            files = [try Self.file(ofVersion: url)]
            currentName = name
        case ("momd", true):
            let versions = try Self.contents(of: url, "mom")
            let info = try Self.versionInfo("VersionInfo.plist", in: url)
            files = versions.map { version in
                let name = version.deletingPathExtension().lastPathComponent
                return File(url: version, name: name, entityHashes: info?.hashes[name] ?? [:])
            }
            currentName = info?.currentName
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

    /// A file that says which versions a package has; nil if there is no such file.
    private static func versionInfo(_ name: String, in folder: URL) throws(ModelFileError) -> PackageVersions? {
        let url = folder.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try PackageVersions(bytes(of: url), path: url.path)
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
