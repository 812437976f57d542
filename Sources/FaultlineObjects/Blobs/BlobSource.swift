internal import FaultlineLog
internal import FaultlineStore

/// Reads large values that are out of their rows: a context, or a value that an object was given.
protocol BlobSource: AnyObject, Sendable {
    /// Counts memory that a value is about to take.
    func willHold(_ byteCount: Int)

    /// A value that can be passed to any thread.
    ///
    /// - Throws: If it cannot be found.
    func blob(_ reference: BlobReference) throws(LogError) -> Blob

    /// Reads a range of a value.
    ///
    /// - Parameters:
    ///   - reference: The value.
    ///   - held: The same, if it belongs to an object whose deletion was saved.
    ///   - range: The bytes to read.
    ///   - target: Where they go.
    /// - Throws: If the store cannot be read, or the bytes are damaged.
    func readBlob(
        _ reference: BlobReference, _ held: HeldBlob?, range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError)

    /// Reads a whole value, and enters the read in the account of a property.
    ///
    /// - Parameters:
    ///   - reference: The value.
    ///   - held: The same, if it belongs to an object whose deletion was saved.
    ///   - target: Where the bytes go.
    ///   - number: The object that has the property.
    ///   - entity: Its entity; nil for an object in no context.
    ///   - slot: The property.
    /// - Throws: As the method above.
    func readBlob(
        _ reference: BlobReference, _ held: HeldBlob?, into target: UnsafeMutableRawBufferPointer,
        of number: RecordID, _ entity: EntityStorage?, _ slot: Int
    ) throws(LogError)
}
