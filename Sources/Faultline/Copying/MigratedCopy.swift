internal import FaultlineDisk
internal import FaultlineLog

/// A copy of a store's files in a directory of its own, while nothing writes the store.
struct MigratedCopy {
    let disk: Disk
    let source: String
    let target: String

    private var lock: String { target + "/" + FileName.lock }
    /// The byte of the copy's LOCK that an attempt holds until its end; stores hold the first two.
    private static let lockByte: UInt64 = 2

    /// Takes the directory for this attempt, and makes it if it is missing.
    ///
    /// - Returns: Its LOCK, whose third byte is held until the file is closed; nil if another attempt, of this process
    ///   or another, holds it.
    func claim() throws(LogError) -> DiskFile? {
        do throws(DiskError) {
            if try !disk.isPresent(target) { try disk.createDirectory(target) }
            if try !disk.isPresent(lock) {
                do throws(DiskError) { try disk.open(lock, for: .creating).close() } catch {
                    guard error.code == .exists else { throw error }
                }
            }
            let before = try disk.identity(of: lock)
            let file = try disk.open(lock, for: .updating)
            do throws(DiskError) {
                // The attempt before may have removed the file since.
                if try file.lock(byte: Self.lockByte, exclusively: true), try disk.isPresent(lock),
                    try disk.identity(of: lock) == before
                {
                    return file
                }
            } catch {
                file.close()
                throw error
            }
            file.close()
            return nil
        } catch { throw LogError(error, doing: "taking the place of the new store, \(target)") }
    }

    /// Copies the files, and replaces the copy of an earlier attempt.
    ///
    /// Durability: that of every byte and name when this returns.
    ///
    /// - Throws: `.notAStore` for a directory that has other files; the disk's errors.
    func make() throws(LogError) {
        let others = try copying { () throws(DiskError) in
            try clear()
            return try disk.names(in: target).filter { $0 != FileName.lock }
        }
        if let other = others.first {
            throw LogError(
                .notAStore, "The directory is needed for a copy of the store, and has \(other). Remove it.",
                path: target)
        }
        try copying { () throws(DiskError) in
            for name in try disk.names(in: source) where name == FileName.identity || FileName.parse(name) != nil {
                let copy = target + "/" + name
                try disk.copy(source + "/" + name, to: copy)
                let file = try disk.open(copy, for: .updating)
                defer { file.close() }
                try file.synchronize()
            }
            try disk.synchronizeDirectory(target)
        }
    }

    private func copying<R>(_ body: () throws(DiskError) -> R) throws(LogError) -> R {
        do throws(DiskError) { return try body() } catch {
            throw LogError(error, doing: "copying the store to \(target)")
        }
    }

    /// Gives the copy its final name, durably.
    func rename(to final: String) throws(LogError) {
        do {
            try disk.rename(target, to: final)
            try disk.synchronizeDirectory(DirectoryPath.parent(of: final))
        } catch { throw LogError(error, doing: "moving the migrated store to \(final)") }
    }

    /// Removes the copy, if there is one; fails if its directory has a file that is not of a store, and leaves that.
    func remove() throws(DiskError) {
        guard try disk.isPresent(target) else { return }
        try clear()
        if try disk.isPresent(lock) { try disk.remove(lock) }
        try disk.removeDirectory(target)
    }

    /// Removes the files of a store, except the lock.
    private func clear() throws(DiskError) {
        for name in try disk.names(in: target) where FileName.isOfStore(name) && name != FileName.lock {
            try disk.remove(target + "/" + name)
        }
        for folder in [FileName.quarantine, FileName.retained].map({ target + "/" + $0 })
        where try disk.isPresent(folder) {
            for name in try disk.names(in: folder) { try disk.remove(folder + "/" + name) }
            try disk.removeDirectory(folder)
        }
    }
}
