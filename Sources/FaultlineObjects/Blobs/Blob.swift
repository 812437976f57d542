internal import FaultlineLog
internal import FaultlineStore
public import Foundation

/// A value of an attribute that is not read: its size, ranges of it, a stream of its bytes, or a reference for another
/// object.
///
/// It is one version of the value, and can be passed to any task or context: it stays readable after its object was
/// changed or deleted, and after its container was closed. As long as a large value is referred to, the file that it
/// lies in stays on the disk: once compaction has dropped the file, `CompactionSummary.heldByteCount` counts it.
public struct Blob: Sendable {
    enum Place: Sendable {
        /// Out of the row, in a file that stays as long as this value; with the counts of the context that found it.
        case stored(HeldBlob, ReadTally?)
        /// Written beside transactions by a `BlobWriter`.
        case uploaded(FinishedUpload)
        /// Out of the row, in the state that a migration stage reads, which does not change.
        case staged(BlobReference, any BlobSource)
        /// In the row, or not saved yet.
        case inline(Data)
        /// Out of the row, where it could not be found.
        case unreadable(BlobReference, LogError)
    }

    let place: Place

    /// Bytes of the value; nothing is read.
    public var byteCount: Int {
        switch place {
        case .stored(let held, _): Int(clamping: held.byteCount)
        case .uploaded(let upload): Int(clamping: upload.byteCount)
        case .staged(let reference, _), .unreadable(let reference, _): Int(clamping: reference.byteCount)
        case .inline(let data): data.count
        }
    }

    /// Reads a range of the value.
    ///
    /// Only the chunks of 64 KiB that the range touches are read and checked.
    ///
    /// - Parameter range: Bytes from the value's start, within `0..<byteCount`.
    /// - Returns: The bytes.
    /// - Throws: `StorageError`: `outOfRange` for bytes outside of the value; other codes if the store cannot be read,
    ///   or the bytes are damaged.
    /// - Complexity: O(n) for n bytes of the range, in whole chunks of 64 KiB.
    public func data(in range: Range<Int>) throws -> Data {
        guard range.lowerBound >= 0, range.upperBound <= byteCount else {
            throw StorageError(outOfRange: range, ofByteCount: byteCount)
        }
        if case .inline(let data) = place {
            return data.subdata(in: data.startIndex + range.lowerBound..<data.startIndex + range.upperBound)
        }
        if case .staged(_, let source) = place { source.willHold(range.count) }
        var data = Data(count: range.count)
        try StorageError.translating {
            try data.withUnsafeMutableBytes { target in
                try read(UInt64(range.lowerBound)..<UInt64(range.upperBound), into: target)
            }
        }
        return data
    }

    /// Reads the whole value.
    ///
    /// - Throws: As `data(in:)`.
    /// - Complexity: O(n) for n bytes, all in memory at once: read a large value by ranges, or by `bytes(in:)`.
    public func data() throws -> Data { try data(in: 0..<byteCount) }

    /// Reads a range that is not inline into memory.
    private func read(_ range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer) throws(LogError) {
        switch place {
        case .inline: return
        case .stored(let held, let tally):
            try held.read(range, into: target)
            tally?.addBlobBytes(target.count)
        case .uploaded(let upload): try upload.held.read(range, into: target)
        case .staged(let reference, let source): try source.readBlob(reference, nil, range: range, into: target)
        case .unreadable(_, let error): throw error
        }
    }
}
