import Foundation

/// The files of the repository that this test was compiled from, without build folders and other ignored files.
enum Repository {
    static let files: [RepositoryFile] = read()

    private static var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
    }

    static var path: String { root.path }

    static func isIgnored(_ name: String) -> Bool {
        name == ".git" || name == ".swiftpm" || name == "Package.resolved" || name.hasPrefix(".build")
            || name.hasSuffix(".o")
    }

    private static func read() -> [RepositoryFile] {
        var files: [RepositoryFile] = []
        var folders = [""]
        while let folder = folders.popLast() {
            let url = folder.isEmpty ? root : root.appendingPathComponent(folder)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
            for name in names.sorted() where !isIgnored(name) {
                let path = folder.isEmpty ? name : folder + "/" + name
                var isFolder: ObjCBool = false
                let full = root.appendingPathComponent(path).path
                // The target of a symbolic link has its own entry.
                guard (try? FileManager.default.destinationOfSymbolicLink(atPath: full)) == nil,
                    FileManager.default.fileExists(atPath: full, isDirectory: &isFolder)
                else { continue }
                if isFolder.boolValue {
                    folders.append(path)
                } else if let data = FileManager.default.contents(atPath: full) {
                    files.append(
                        RepositoryFile(path: path, byteCount: data.count, text: String(data: data, encoding: .utf8))
                    )
                }
            }
        }
        return files.sorted { $0.path < $1.path }
    }
}
