/// Something that a salvage could not get out, or is not sure of.
package enum SalvageFinding: Sendable, Equatable {
    /// Bytes of a file that do not verify, or a file that is not there.
    case lostRange(LostRange)
    /// A value out of the row of which some part does not verify; it is left out whole.
    case lostBlob(LostBlob)
    /// An object that was written, and of which no version verifies.
    case lostObject(table: TableID, id: RecordID)
    /// An object that was taken in an older version, because the newest is known not to verify.
    case olderVersion(table: TableID, id: RecordID)
    /// Something that is wrong and cost nothing.
    case remark(SalvageRemark)
}

/// Damage that salvage could do without.
package struct SalvageRemark: Sendable, Equatable {
    package let path: String
    /// What is wrong, in a sentence.
    package let text: String
}

/// Bytes that salvage could not read.
package struct LostRange: Sendable, Equatable {
    package let path: String
    /// From the start of the file.
    package let offset: UInt64
    /// 0 where nobody knows how many there were.
    package let byteCount: UInt64
    /// What is wrong with them, in a sentence.
    package let reason: String
}

/// A blob that salvage could not read.
package struct LostBlob: Sendable, Equatable {
    package let id: RecordID
    /// The object it was written for; nil if the blob's header does not verify either.
    package let owner: BlobOwner?
    /// Bytes of the value; 0 where nobody knows.
    package let byteCount: UInt64
    package let path: String?
    package let offset: UInt64?
    /// What is wrong with it, in a sentence.
    package let reason: String
}
