import FaultlineCommands
import FaultlineDisk
import Foundation

/// Where a dump puts large values.
package enum BlobDestination: Equatable {
    /// Nowhere: the line names the blob and its size.
    case none
    /// Into the line.
    case base64
    /// Into files of a folder, each named after its blob.
    case folder(String)

    /// Reads the option `--blobs`.
    package init(option: String?) {
        self =
            switch option {
            case nil: .none
            case "base64"?: .base64
            case let path?: .folder(path)
            }
    }

    /// Makes the folder if the destination is one.
    ///
    /// - Throws: A failure of status 2 if it is not empty, or is inside the store.
    func prepare(for store: String) throws(CommandFailure) {
        guard case .folder(let path) = self else { return }
        let places = [store, path].map { URL(filePath: $0).resolvingSymlinksInPath().standardizedFileURL.path + "/" }
        if places[1].hasPrefix(places[0]) {
            throw CommandFailure(
                CommandFailure.wrongUsage, "\(path) lies inside the store, to which a dump does not write.")
        }
        let disk = PosixDisk()
        do {
            if try !disk.isPresent(path) { try disk.createDirectory(path) }
            if try disk.names(in: path).isEmpty { return }
        } catch {
            throw CommandFailure(CommandFailure.wrongUsage, "Blobs cannot be written to \(path). \(error)")
        }
        throw CommandFailure(CommandFailure.wrongUsage, "\(path) is not empty. Name a folder that does not exist yet.")
    }
}
