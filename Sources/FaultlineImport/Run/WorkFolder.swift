#if Import
internal import Foundation
internal import Glibc

/// The folder beside the destination in which an import works: `DEST.import`.
///
/// It has the new store until it is complete, the state, and the file of findings.
struct WorkFolder {
    /// The state of an unfinished import.
    struct State: Codable, Equatable {
        static let currentVersion = 1
        var version = State.currentVersion
        /// The source's files.
        let source: String
        /// The fingerprint of the model.
        let model: String
        /// Constraints that objects of the source break: entity, properties, and two objects.
        var broken: [Broken] = []

        struct Broken: Codable, Equatable {
            let entity: String
            let properties: [String]
            let objects: [Int64]
        }
    }

    let destination: String
    let path: String

    init(_ destination: URL) {
        var path = destination.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.destination = path
        self.path = path + ".import"
    }

    var storePath: String { path + "/store" }
    var findingsPath: String { path + "/findings.jsonl" }
    /// The file of findings beside a finished store.
    var finalFindingsPath: String { destination + ".findings.jsonl" }
    private var statePath: String { path + "/state.json" }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    private func failed(_ path: String, _ error: any Error) -> ImportError {
        ImportError(.unwritable, "\(path) cannot be written: \(error.localizedDescription)", path: path)
    }

    /// The lock of the folder, for as long as this exists: a second import into the same place is refused.
    final class Lock {
        private let descriptor: Int32

        fileprivate init(_ path: String) throws(ImportError) {
            descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw ImportError(
                    .unwritable, "\(path) cannot be opened: \(String(cString: strerror(errno))).", path: path)
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                throw ImportError(
                    .occupied, "Another process imports into \(path). Wait until it has ended.", path: path)
            }
        }

        deinit { close(descriptor) }
    }

    /// Makes the folder if it is missing, and locks it.
    ///
    /// - Throws: `occupied` if the destination exists, or another import has the folder; `unwritable`.
    func lock() throws(ImportError) -> Lock {
        guard !Self.exists(destination) else {
            throw ImportError(
                .occupied, "\(destination) exists. Give another destination, or move it away.", path: destination)
        }
        do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
            throw failed(path, error)
        }
        return try Lock(path)
    }

    /// The state of an earlier call that did not end; nil if there was none.
    ///
    /// - Throws: `occupied` if the folder is none of an import.
    func state() throws(ImportError) -> State? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        // A kill before the first state may leave its unfinished file, whose name begins with a dot.
        guard names.contains(where: { !$0.hasPrefix(".") }) else { return nil }
        guard let bytes = FileManager.default.contents(atPath: statePath),
            let state = try? JSONDecoder().decode(State.self, from: bytes), state.version == State.currentVersion
        else {
            throw ImportError(
                .occupied, "\(path) exists, and is not the folder of an import by this release. Move it away.",
                path: path)
        }
        return state
    }

    /// Begins an import, without anything of an earlier one.
    ///
    /// - Throws: `unwritable`.
    func begin(_ state: State) throws(ImportError) {
        do {
            if Self.exists(storePath) { try FileManager.default.removeItem(atPath: storePath) }
            try JSONEncoder().encode(state).write(to: URL(filePath: statePath), options: .atomic)
        } catch { throw failed(path, error) }
    }

    /// Gives the finished store its name, and removes the folder.
    ///
    /// - Parameter hasFindings: Whether the file of findings stays, beside the store.
    /// - Throws: `occupied` if the destination exists by now; `unwritable`.
    func finish(hasFindings: Bool) throws(ImportError) {
        if hasFindings, Glibc.rename(findingsPath, finalFindingsPath) != 0 {
            throw renameFailure(findingsPath, finalFindingsPath)
        }
        // A folder that is not empty, or a file, is never replaced by a folder.
        guard Glibc.rename(storePath, destination) == 0 else {
            guard ![EEXIST, ENOTEMPTY, ENOTDIR].contains(errno) else {
                throw ImportError(
                    .occupied, "\(destination) exists by now. Give another destination, or move it away.",
                    path: destination)
            }
            throw renameFailure(storePath, destination)
        }
        try synchronizeParent()
        try? FileManager.default.removeItem(atPath: path)
    }

    private func renameFailure(_ source: String, _ target: String) -> ImportError {
        ImportError(
            .unwritable, "\(source) cannot be renamed to \(target): \(String(cString: strerror(errno))).", path: target)
    }

    private func synchronizeParent() throws(ImportError) {
        let parent = URL(filePath: destination).deletingLastPathComponent().path(percentEncoded: false)
        let descriptor = Glibc.open(parent, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw ImportError(
                .unwritable, "\(parent) cannot be synchronized: \(String(cString: strerror(errno))).", path: parent)
        }
        close(descriptor)
    }
}
#endif
