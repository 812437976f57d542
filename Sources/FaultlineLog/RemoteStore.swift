import FaultlineDisk

/// The rule that nobody writes to a store whose locks and synchronizations another machine or process answers for.
///
/// A lock there may be given twice, and a synchronization that returned may have made nothing durable. Reading is left
/// alone: it changes nothing, and is how such a store is saved.
enum RemoteStore {
    /// Refuses a store on such a file system; one that is not there yet before anything of it is made.
    ///
    /// - Parameters:
    ///   - directory: The store, or where it is to be.
    ///   - isPresent: Whether the directory is there.
    ///   - disk: The disk; one that does not say which file system it is, is believed to be local.
    ///   - options: What the opening may do.
    /// - Throws: `.readOnly`, with the file system's name.
    static func refuse(
        _ directory: String, isPresent: Bool, on disk: Disk, options: LogOptions
    ) throws(LogError) {
        guard options.access == .writing, !options.allowsRemoteFileSystem else { return }
        var place = directory
        if !isPresent {
            // The nearest directory that is there.
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

    /// Where the last component of a path is.
    private static func parent(of path: String) -> String {
        var components = path.split(separator: "/", omittingEmptySubsequences: true)
        _ = components.popLast()
        let joined = components.joined(separator: "/")
        if path.hasPrefix("/") { return "/" + joined }
        return joined.isEmpty ? "." : joined
    }
}
