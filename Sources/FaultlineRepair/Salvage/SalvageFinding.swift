package import FaultlineLog

/// A loss or doubt that a salvage reports.
package enum SalvageFinding: Sendable, Equatable {
    /// Bytes of a file that do not verify, or a missing file.
    case lostRange(LostRange)
    /// A blob of which some part does not verify; it is left out as a whole.
    case lostBlob(LostBlob)
    /// An object that was written, but has no version that verifies.
    case lostObject(table: TableID, id: RecordID)
    /// An object in an older version, because the newest is known not to verify.
    case olderVersion(table: TableID, id: RecordID)
    /// A problem that cost no data.
    case remark(SalvageRemark)
}

/// Damage without loss of data.
package struct SalvageRemark: Sendable, Equatable {
    package let path: String
    /// The problem, in a sentence.
    package let text: String
}

/// Bytes that salvage could not read.
package struct LostRange: Sendable, Equatable {
    package let path: String
    /// The offset from the start of the file.
    package let offset: UInt64
    /// 0 if the number is unknown.
    package let byteCount: UInt64
    /// The problem, in a sentence.
    package let reason: String
}

/// A blob that salvage could not read.
package struct LostBlob: Sendable, Equatable {
    package let id: RecordID
    /// The object that it was written for; nil if the blob's header does not verify either.
    package let owner: BlobOwner?
    /// Bytes of the value; 0 if unknown.
    package let byteCount: UInt64
    package let path: String?
    package let offset: UInt64?
    /// The problem, in a sentence.
    package let reason: String
}
