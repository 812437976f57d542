package import FaultlineDisk

/// Reads and writes IDENTITY, two copies of the same 4,096 bytes.
package enum IdentityFile {
    /// Reads the identity; one valid copy is enough, unless both are required.
    ///
    /// - Returns: Nil if there is no such file.
    package static func read(_ path: String, on disk: Disk, demandsBoth: Bool = false) throws(LogError) -> Identity? {
        let file: DiskFile
        do {
            file = try disk.open(path, for: .reading)
        } catch {
            if error.code == .notFound { return nil }
            throw LogError(error, doing: "opening the store's identity")
        }
        defer { file.close() }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * Identity.copyByteCount, alignment: 8)
        defer { bytes.deallocate() }
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        let count = try onDisk("reading the store's identity") { () throws(DiskError) in
            try file.read(into: bytes, at: 0)
        }
        guard let start = bytes.baseAddress else { return nil }

        var valid: [Identity] = []
        var hasMagic = false
        for copy in 0..<2 where count >= (copy + 1) * Identity.copyByteCount {
            do throws(FormatFault) {
                valid.append(try Identity(reading: start + copy * Identity.copyByteCount))
            } catch {
                switch error {
                case .newerFormat: throw .newerFormat("The store is", path)
                case .unknownFeatures:
                    throw .newerFormat("The store \(error.sentence), which is", path)
                case .wrongMagic: continue
                default: break
                }
                hasMagic = true
            }
        }
        guard let first = valid.first else {
            if hasMagic { throw .damaged("Both copies of the store's identity are damaged.", path, 0) }
            throw LogError(
                .notAStore, "The file IDENTITY is not that of a store. Choose another directory.", path: path)
        }
        guard !demandsBoth || valid.count == 2 else {
            throw .damaged("A copy of the store's identity is damaged.", path, 0)
        }
        guard valid.allSatisfy({ $0 == first }) else {
            throw .damaged("The two copies of the store's identity differ.", path, 0)
        }
        return first
    }

    /// Writes the identity as a whole, in one step: after a crash either the old one, if any, or the new one is there.
    ///
    /// The first one makes the directory a store: the last step of creating it.
    static func write(_ identity: Identity, in path: String, on disk: Disk) throws(LogError) {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * Identity.copyByteCount, alignment: 8)
        defer { bytes.deallocate() }
        if let start = bytes.baseAddress {
            identity.write(to: start)
            identity.write(to: start + Identity.copyByteCount)
        }
        let temporary = path + "/" + FileName.identityBeingWritten
        try onDisk("writing the store's identity") { () throws(DiskError) in
            if try disk.isPresent(temporary) { try disk.remove(temporary) }
            let file = try disk.open(temporary, for: .creating)
            defer { file.close() }
            try file.write(UnsafeRawBufferPointer(bytes), at: 0)
            try file.synchronize(site: "identity.content")
            try disk.rename(temporary, to: path + "/" + FileName.identity)
            try disk.synchronizeDirectory(path, site: "identity.directory")
            try disk.synchronizeDirectory(DirectoryPath.parent(of: path), site: "identity.parent")
        }
    }
}
