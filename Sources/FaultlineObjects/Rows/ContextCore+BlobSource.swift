internal import FaultlineLog
internal import FaultlineStore

extension ContextCore: BlobSource {
    func willHold(_ byteCount: Int) { rules.willHold?(byteCount) }

    func blob(_ reference: BlobReference) throws(LogError) -> Blob {
        // The state that a stage reads does not change, and its values may be moved instead of copied.
        if stage != nil { return Blob(place: .staged(reference, self)) }
        return Blob(place: .stored(try hold(reference), tally))
    }

    /// A value that stays readable after it was replaced or deleted.
    func hold(_ reference: BlobReference) throws(LogError) -> HeldBlob {
        try beginReading()
        defer { endReading() }
        return try snapshot.hold(reference.identifier)
    }

    /// A stored value for another object: a save in this context's stage moves it if its owner gives it up.
    func given(_ reference: BlobReference) throws(LogError) -> GivenBlob {
        GivenBlob(try hold(reference), tally, owned: GivenBlob.Owned(reference.identifier, in: store.log))
    }

    func readBlob(
        _ reference: BlobReference, _ held: HeldBlob?, range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) {
        try RowCache(self).readBlob(reference, held, range: range, into: target)
    }

    func readBlob(
        _ reference: BlobReference, _ held: HeldBlob?, into target: UnsafeMutableRawBufferPointer,
        of number: RecordID, _ entity: EntityStorage?, _ slot: Int
    ) throws(LogError) {
        try accounted(number, entity, slot) { () throws(LogError) in
            try RowCache(self).readBlob(reference, held, range: 0..<reference.byteCount, into: target)
        }
    }
}
