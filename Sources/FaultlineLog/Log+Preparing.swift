import FaultlineDisk

extension Log {
    /// Creates the store's directory, if necessary.
    ///
    /// - Throws: `.notAStore` for a directory of other files, before anything in it is changed; disk errors.
    static func prepare(_ directory: String, on disk: Disk, options: LogOptions) throws(LogError) {
        let isPresent = try onDisk("looking for the store") { () throws(DiskError) in try disk.isPresent(directory) }
        try RemoteStore.refuse(directory, isPresent: isPresent, on: disk, options: options)
        if isPresent {
            if options.access == .writing { try Creation.refuseForeign(directory, on: disk) }
            return
        }
        guard options.access == .writing else {
            throw LogError(
                .notAStore, "There is no such directory. Open it for writing to create a store.", path: directory)
        }
        do throws(DiskError) {
            try disk.createDirectory(directory)
        } catch {
            guard error.code == .exists else { throw LogError(error, doing: "creating the store's directory") }
            // Another process was faster, or the path is a dangling link.
            let isThere = try onDisk("looking for the store") { () throws(DiskError) in try disk.isPresent(directory) }
            guard !isThere else { return }
            throw LogError(
                .notAStore,
                "The path is a symbolic link, and there is nothing where it leads. Make that directory, or remove the "
                    + "link.", path: directory)
        }
    }
}
