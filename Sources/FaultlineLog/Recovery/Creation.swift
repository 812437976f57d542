import FaultlineDisk

/// Creates a store in an empty directory, or in one with the remains of an aborted creation.
enum Creation {
    /// Refuses a directory that is no store and cannot become one, before anything in it is changed.
    ///
    /// - Throws: `.notAStore`.
    static func refuseForeign(_ path: String, on disk: Disk) throws(LogError) {
        let isLocked = try onDisk("looking for the store") { () throws(DiskError) in
            try disk.isPresent(path + "/" + FileName.lock)
        }
        guard !isLocked else { return }
        let names = try onDisk("listing the store's directory") { () throws(DiskError) in try disk.names(in: path) }
        if names.contains(FileName.identity) {
            _ = try IdentityFile.read(path + "/" + FileName.identity, on: disk)
            return
        }
        for name in names { _ = try leftover(name, path) }
    }

    /// The kind and number of a file that an aborted creation may have left; nil for its files without a number.
    ///
    /// - Throws: `.notAStore` for a file that does not belong to a store.
    private static func leftover(_ name: String, _ path: String) throws(LogError) -> (kind: FileKind, number: UInt64)? {
        switch name {
        case FileName.lock, FileName.quarantine, FileName.retained, FileName.ballast, FileName.identityBeingWritten:
            return nil
        default:
            guard let file = FileName.parse(name) else {
                throw LogError(
                    .notAStore,
                    "The directory holds files that are no store's, such as \(name). Choose an empty directory.",
                    path: path)
            }
            return file
        }
    }

    /// Creates the store: `docs/FileFormat.md` section 1, creation order.
    static func create(
        in path: String, names: [String], on disk: Disk, clock: Clock, random: RandomSource,
        storeID: (UInt64, UInt64)?
    ) throws(LogError) -> Identity {
        var nextNumber: UInt64 = 1
        var leftovers: [String] = []
        for name in names {
            guard let (kind, number) = try leftover(name, path) else {
                if name == FileName.identityBeingWritten { leftovers.append(name) }
                continue
            }
            // An aborted creation leaves no more than a segment's header.
            if kind != .manifest, try Leftovers.byteCount(path + "/" + name, on: disk) > FileHeader.byteCount {
                throw .damaged("The store's IDENTITY is missing although it holds data.", path)
            }
            nextNumber = max(nextNumber, number &+ 1)
            leftovers.append(name)
        }
        for name in leftovers {
            try onDisk("removing the files of an aborted creation") { () throws(DiskError) in
                try disk.remove(path + "/" + name)
            }
        }

        let identity = Identity(
            storeHigh: storeID?.0 ?? random.next(), storeLow: storeID?.1 ?? random.next(),
            createdNanoseconds: clock.wallNanoseconds(),
            salt: random.next(), instance: StoreID(high: random.next(), low: random.next()))
        let directory = StoreDirectory(
            disk: disk, path: path, storeID: identity.storeID,
            nextNumber: nextNumber,
            random: random)
        let segment = try directory.create(.hotSegment)
        segment.noteListed()
        try onDisk("making a segment durable") { () throws(DiskError) in
            try segment.file.synchronize(site: "creation.segment")
        }
        var state = ManifestState()
        let isNew =
            state.apply(segment.addition()) && state.apply(.clean)
        precondition(isNew, "An empty manifest takes any file.")
        _ = try Manifest(state, in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: nil)
        try IdentityFile.write(identity, in: path, on: disk)
        return identity
    }
}
