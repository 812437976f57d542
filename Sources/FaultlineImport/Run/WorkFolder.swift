#if Import
internal import FaultlineDisk
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
        self.destination = DirectoryPath.trimmed(destination.path(percentEncoded: false))
        path = self.destination + ".import"
    }

    var storePath: String { path + "/store" }
    var findingsPath: String { path + "/findings.jsonl" }
    /// The file of findings beside a finished store.
    var finalFindingsPath: String { destination + ".findings.jsonl" }
    private var statePath: String { path + "/state.json" }
    /// The state while it is written.
    private var newStatePath: String { path + "/state.json.new" }

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

    /// The state of an earlier call that did not end; nil if there was none, or a kill has left the folder without one.
    ///
    /// - Throws: `occupied` if the folder is none of an import.
    func state() throws(ImportError) -> State? {
        let foreign = ImportError(
            .occupied, "\(path) exists, and is not the folder of an import by this release. Move it away.", path: path)
        if let bytes = FileManager.default.contents(atPath: statePath) {
            if let state = try? JSONDecoder().decode(State.self, from: bytes), state.version == State.currentVersion {
                return state
            }
            // A power cut may leave a part of a state, which is no JSON; another release's is.
            if (try? JSONDecoder().decode(Version.self, from: bytes)) != nil { throw foreign }
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let known = Set([storePath, statePath, newStatePath, findingsPath].map { $0.dropFirst(path.count + 1) })
        guard names.allSatisfy({ known.contains($0[...]) || $0.hasPrefix(".") }) else { throw foreign }
        return nil
    }

    private struct Version: Decodable {
        let version: Int
    }

    /// Begins an import, without anything of an earlier one.
    ///
    /// - Throws: `unwritable`.
    func begin(_ state: State) throws(ImportError) {
        do {
            // The old state goes first: with it, a half removed store would be taken for one that goes on.
            if Self.exists(statePath) {
                try FileManager.default.removeItem(atPath: statePath)
                try synchronize(path)
            }
            if Self.exists(storePath) { try FileManager.default.removeItem(atPath: storePath) }
            try write(JSONEncoder().encode(state))
        } catch let error as ImportError { throw error } catch { throw failed(path, error) }
    }

    /// Writes the state whole and to the disk: under another name first.
    private func write(_ bytes: Data) throws(ImportError) {
        let descriptor = Glibc.open(newStatePath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw systemFailure(newStatePath) }
        defer { close(descriptor) }
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw systemFailure(newStatePath) }
            done += written
        }
        guard fsync(descriptor) == 0 else { throw systemFailure(newStatePath) }
        guard Glibc.rename(newStatePath, statePath) == 0 else { throw renameFailure(newStatePath, statePath) }
        try synchronize(path)
    }

    private func systemFailure(_ path: String) -> ImportError {
        ImportError(.unwritable, "\(path) cannot be written: \(String(cString: strerror(errno))).", path: path)
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
        try synchronize(URL(filePath: destination).deletingLastPathComponent().path(percentEncoded: false))
        remove()
    }

    /// Removes the folder; the state is the last to go, because it says whose the rest is.
    private func remove() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where path + "/" + name != statePath {
            try? FileManager.default.removeItem(atPath: path + "/" + name)
        }
        unlink(statePath)
        rmdir(path)
    }

    private func renameFailure(_ source: String, _ target: String) -> ImportError {
        ImportError(
            .unwritable, "\(source) cannot be renamed to \(target): \(String(cString: strerror(errno))).", path: target)
    }

    /// Writes the names in a folder to the disk.
    private func synchronize(_ folder: String) throws(ImportError) {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw ImportError(
                .unwritable, "\(folder) cannot be synchronized: \(String(cString: strerror(errno))).", path: folder)
        }
    }
}
#endif
