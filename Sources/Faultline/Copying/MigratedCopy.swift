internal import FaultlineDisk
internal import FaultlineLog

/// A copy of a store's files in a directory of its own, while nothing writes the store.
struct MigratedCopy {
    let disk: Disk
    let source: String
    let target: String

    /// Copies the files, and replaces the copy of an earlier attempt.
    ///
    /// Durability: that of every byte and name when this returns.
    func make() throws(LogError) {
        do {
            try remove()
            try disk.createDirectory(target)
            for name in try disk.names(in: source) where name == FileName.identity || FileName.parse(name) != nil {
                let copy = target + "/" + name
                try disk.copy(source + "/" + name, to: copy)
                let file = try disk.open(copy, for: .updating)
                defer { file.close() }
                try file.synchronize()
            }
            try disk.synchronizeDirectory(target)
        } catch { throw LogError(error, doing: "copying the store to \(target)") }
    }

    /// Gives the copy its final name, durably.
    func rename(to final: String) throws(LogError) {
        do {
            try disk.rename(target, to: final)
            try disk.synchronizeDirectory(IdentityFile.parent(of: final))
        } catch { throw LogError(error, doing: "moving the migrated store to \(final)") }
    }

    /// Removes the copy, if there is one; fails if its directory has a file that is not of a store, and leaves that.
    func remove() throws(DiskError) {
        guard try disk.isPresent(target) else { return }
        for name in try disk.names(in: target) where FileName.isOfStore(name) { try disk.remove(target + "/" + name) }
        let quarantine = target + "/" + FileName.quarantine
        if try disk.isPresent(quarantine) {
            for name in try disk.names(in: quarantine) { try disk.remove(quarantine + "/" + name) }
            try disk.removeDirectory(quarantine)
        }
        try disk.removeDirectory(target)
    }
}
