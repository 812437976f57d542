import Faultline
import FaultlineCommands

/// The place of the demo's store.
struct StorePlace {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// Removes an earlier run's store and journal, and nothing else: a folder that is no store stays.
    func remove(_ journalPath: String) throws {
        let files = FileManager.default
        if exists {
            let names = try CommandFailure.opening(path) { try files.contentsOfDirectory(atPath: path) }
            guard names.isEmpty || names.contains("LOCK") else {
                throw CommandFailure(
                    CommandFailure.cannotOpen,
                    "\(path) is a folder that holds no store: it is left alone. Name another place."
                )
            }
            try CommandFailure.opening(path) { try files.removeItem(atPath: path) }
        }
        if files.fileExists(atPath: journalPath) {
            try CommandFailure.opening(journalPath) { try files.removeItem(atPath: journalPath) }
        }
    }
}
