import FaultlineDisk

extension ManagedFile {
    /// The edit that lists the file.
    func addition(begun: UInt64 = 0) -> ManifestEdit {
        .fileAdded(
            AddedFile(
                number: number, kind: kind, generation: header.generation, salt: header.salt, begun: begun))
    }

    /// The edit that lists a write-once file as complete.
    func completion(first: UInt64 = 0, last: UInt64) throws(LogError) -> ManifestEdit {
        let end = try onDisk("measuring a file") { () throws(DiskError) in try file.byteCount() }
        return .fileSealed(
            SealedFile(number: number, end: end, chain: 0, firstSequence: first, lastSequence: last))
    }
}
