import FaultlineDisk

extension ManifestReader.Reading {
    /// The newest transaction that is known to be durable: a log that ends before has lost its end.
    ///
    /// The manifest and the unsealed blob segments name it: `docs/FileFormat.md` section 5, "Witnesses".
    ///
    /// - Parameter directory: The directory of the store.
    /// - Returns: Its number; 0 if none is known.
    /// - Throws: Errors of opening and reading the segments.
    package func newestDurable(in directory: StoreDirectory) throws(LogError) -> UInt64 {
        var witness = witness
        for (_, entry) in state.files.sorted(by: { $0.key < $1.key })
        where entry.kind == .blobSegment && entry.seal == nil {
            try witness.add(blobSegment: try directory.open(entry, for: .reading), from: entry.durable)
        }
        return witness.durable.sequence
    }
}
