import FaultlineDisk
import Glibc

/// A directory of the real file system that is deleted with this object, with everything in it.
package final class TemporaryDirectory: Sendable {
    /// The absolute path, without a slash at the end.
    package let path: String

    /// - Parameter parent: The directory to create it in; `/tmp` by default.
    package init(in parent: String = "/tmp") {
        var template = Array("\(parent)/faultline-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            preconditionFailure("No temporary directory could be made in \(parent) (errno \(errno)).")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Self.removeTree(path, on: PosixDisk())
    }

    /// Removes a directory and everything in it.
    package static func remove(_ directory: String) { removeTree(directory, on: PosixDisk()) }

    /// Removes as much as it can; the system cleans up the rest.
    private static func removeTree(_ directory: String, on disk: PosixDisk) {
        do {
            guard try disk.isPresent(directory) else { return }
            for name in try disk.names(in: directory) {
                let path = "\(directory)/\(name)"
                if unlink(path) != 0 { removeTree(path, on: disk) }
            }
            try disk.removeDirectory(directory)
        } catch {
            print("left behind: \(error)")
        }
    }
}
