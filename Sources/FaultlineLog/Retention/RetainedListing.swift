import FaultlineDisk

/// A list of files that states of the past need: a manifest in the folder `retained/`.
///
/// One with tables lists all files of the store as they were before a checkpoint dropped some of them: with the log behind
/// it, the states since its checkpoint can be built. One without lists segments that the store got and dropped since
/// then, which continue its log.
package struct RetainedListing: Sendable {
    /// The number of its file.
    let number: UInt64
    package let state: ManifestState
    /// The newest transaction when it was written.
    let newest: UInt64

    /// Whether states can be built from its tables.
    package var hasTables: Bool { state.checkpoint?.file ?? 0 != 0 }

    /// The time of the newest transaction of its tables.
    var wallNanoseconds: Int64 { state.checkpoint?.wallNanoseconds ?? .min }

    /// Reads the listing of a number.
    ///
    /// - Throws: `.damaged` if it does not verify; disk errors.
    static func read(_ number: UInt64, in folder: StoreDirectory) throws(LogError) -> RetainedListing {
        guard let reading = try ManifestReader.newest([number], in: folder, for: .reading) else {
            throw .damaged("The manifest is not there.", folder.path(.manifest, number))
        }
        return RetainedListing(number: number, state: reading.state, newest: reading.witness.durable.sequence)
    }

    /// Whether the log leads from the newest tables of the listings to the segments of the manifest.
    static func areContinued(_ listings: [RetainedListing], by state: ManifestState) -> Bool {
        guard let place = listings.lastIndex(where: \.hasTables), let checkpoint = listings[place].state.checkpoint
        else { return false }
        var all = listings[place].state
        guard all.add(filesOf: listings[(place + 1)...].map(\.state) + [state]) else { return false }
        return all.isLogContinuous(from: checkpoint.segment)
    }

    /// Whether the writing of a listing was interrupted.
    private static func isUnfinished(_ number: UInt64, in folder: StoreDirectory) throws(LogError) -> Bool {
        let byteCount = try onDisk("measuring a listing of the past") { () throws(DiskError) in
            try folder.disk.byteCount(of: folder.path(.manifest, number))
        }
        if byteCount <= FileHeader.byteCount { return true }
        return try ManifestReader.isTorn(number, in: folder)
    }

    /// Reads the listings of a store, in the order in which they were written.
    ///
    /// One that does not verify may have the end of a segment that earlier ones name, so these are left out too. One whose
    /// writing was interrupted was never needed.
    ///
    /// - Parameters:
    ///   - folder: `StoreDirectory.retainedFolder` of the store.
    ///   - unreadable: Gets the error of each that does not verify.
    /// - Returns: The listings; none for a store without the folder.
    /// - Throws: Disk errors.
    package static func all(
        in folder: StoreDirectory, unreadable: (_ number: UInt64, LogError) -> Void
    ) throws(LogError) -> [RetainedListing] {
        let names = try onDisk("listing the files of the past") { () throws(DiskError) in
            try folder.disk.isPresent(folder.path) ? try folder.disk.names(in: folder.path) : []
        }
        var listings: [RetainedListing] = []
        for number in FileName.manifests(among: names).sorted() {
            do throws(LogError) {
                listings.append(try read(number, in: folder))
            } catch {
                guard error.code == .damaged || error.code == .newerFormat else { throw error }
                if try isUnfinished(number, in: folder) { continue }
                listings.removeAll()
                unreadable(number, error)
            }
        }
        return listings
    }
}

extension StoreDirectory {
    /// The folder with the files that only states of the past need.
    ///
    /// - Parameter next: The number of the next listing.
    /// - Returns: The directory; there may be none.
    package func retainedFolder(next: UInt64 = 1) -> StoreDirectory {
        StoreDirectory(
            disk: disk, path: path(of: FileName.retained), storeID: storeID, nextNumber: next,
            random: random)
    }
}
