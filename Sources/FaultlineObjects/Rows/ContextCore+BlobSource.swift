internal import FaultlineLog
internal import FaultlineStore

extension ContextCore: BlobSource {
    func willHold(_ byteCount: Int) { rules.willHold?(byteCount) }

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
