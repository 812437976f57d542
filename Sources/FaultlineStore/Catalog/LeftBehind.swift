/// What a migration leaves to be deleted once it has switched, or once it is given up: one catalog record each, written in
/// the transaction after which nobody needs it any more (`docs/FileFormat.md` section 7).
package enum LeftBehind: Codable, Sendable, Equatable {
    /// Blobs that no new object took.
    case blobs([UInt64])
    /// Blobs from `first` up to, not including, `end`: what an abandoned migration wrote.
    case blobRange(first: UInt64, end: UInt64)
    /// The table of an entity that is gone, with the blobs of its rows.
    case table(UInt16)
}
