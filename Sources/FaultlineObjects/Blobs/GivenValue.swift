/// A large value that an object was given by reference: it belongs to another object, or to none, until a save moves,
/// places or copies it.
struct GivenValue {
    /// The number in the draft's reference.
    let number: UInt64
    /// Where the value can be read.
    let source: any BlobSource
}
