import FaultlineDisk

/// Refuses to write to a store whose locks and synchronizations depend on another machine or process.
///
/// A lock there may be granted twice, and a synchronization that returned may have made nothing durable. Reading is
/// allowed: it changes nothing, and can save such a store.
enum RemoteStore {
    /// Refuses a store on such a file system; a new one before anything is created.
    ///
    /// - Parameters:
    ///   - directory: The present or future directory of the store.
    ///   - isPresent: Whether the directory exists.
    ///   - disk: The disk; one that does not report its file system counts as local.
    ///   - options: The access of the opening.
    /// - Throws: `.readOnly`, with the file system's name.
    static func refuse(
        _ directory: String, isPresent: Bool, on disk: Disk, options: LogOptions
    ) throws(LogError) {
        guard options.access == .writing, !options.allowsRemoteFileSystem else { return }
        var place = directory
        if !isPresent {
            // The nearest directory that exists.
            repeat { place = parent(of: place) } while place != "/" && place != "." && !isThere(place, on: disk)
        }
        guard let kind = kind(of: place, on: disk), kind.isRemote else { return }
        throw LogError(
            .readOnly,
            "The store's directory is on \(kind.name), whose locks and synchronizations another machine or process "
                + "answers for, so that acknowledged transactions may be lost. Move the store to a local disk, open it "
                + "for reading, or allow the file system by `StoreOptions.allowsRemoteFileSystem`.",
            path: directory)
    }

    private static func isThere(_ path: String, on disk: Disk) -> Bool {
        do throws(DiskError) { return try disk.isPresent(path) } catch { return true }
    }

    private static func kind(of path: String, on disk: Disk) -> FileSystemKind? {
        do throws(DiskError) { return try disk.fileSystem(of: path) } catch { return nil }
    }

    /// The directory of a path's last component.
    private static func parent(of path: String) -> String {
        var components = path.split(separator: "/", omittingEmptySubsequences: true)
        _ = components.popLast()
        let joined = components.joined(separator: "/")
        if path.hasPrefix("/") { return "/" + joined }
        return joined.isEmpty ? "." : joined
    }
}
