internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineStore
internal import Foundation
internal import Synchronization

/// Writes a large value to the store piece by piece, before an object has it and beside all saves.
///
///     let writer = container.blobWriter()
///     while let piece = try file.read(upToCount: 1 << 20) { try writer.write(piece) }
///     photo.setBlob(try writer.finish(), for: \.pixels)
///     try context.save()
///
/// Memory: about 1.2 MiB, for a value of any size. The save that gives the value to an object copies no byte of it.
///
/// Durability: none by itself. The save that gives the value to an object makes it durable. Bytes that no save has given
/// to an object are freed by compaction after the writer, the value and the objects that have it are gone, and at the
/// latest after the container was closed or the process has ended.
///
/// The value belongs to the store of its container: an object of another store gets a copy of it. Only the first save
/// that gives it to an object takes it over; for the next object, and after a save that failed, it is copied.
///
/// One writer writes one value; calls of several threads are made one after the other.
public final class BlobWriter: Sendable {
    private struct State: Sendable {
        /// The first bytes: so few that the value may belong into its row.
        var first: [UInt8] = []
        var upload: BlobUpload?
        var byteCount = 0
        /// Why no more bytes are taken.
        var end: (any Error)?
    }

    private let log: Log
    private let state: Guarded<State>

    /// - Parameters:
    ///   - log: The store.
    ///   - refusal: The error that each call throws; nil for a writer that may be used.
    package init(_ log: Log, refusing refusal: (any Error)? = nil) {
        self.log = log
        state = Guarded(State(end: refusal))
    }

    /// Bytes so far.
    public var byteCount: Int { state.withLock { $0.byteCount } }

    /// Writes the next bytes of the value.
    ///
    /// - Throws: `StorageError`: `fullDisk` and `readOnly`; `tooLarge` beyond 512 GiB; `closed` if the container was
    ///   closed, or the value was finished; other codes if the disk failed. After an error the value is given up, and
    ///   each later call throws that error.
    /// - Complexity: O(n) for n bytes. The thread waits for the disk now and then.
    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        try state.withLock { state throws -> Void in
            if let end = state.end { throw end }
            do {
                try write(bytes, &state)
            } catch {
                state.end = StorageError.translating(error)
                state.upload = nil
                throw StorageError.translating(error)
            }
        }
    }

    /// Writes the next bytes of the value.
    ///
    /// - Throws: As the form above.
    /// - Complexity: As the form above.
    public func write(_ bytes: some Sequence<UInt8>) throws {
        let isDone: Void? = try bytes.withContiguousStorageIfAvailable { try write(UnsafeRawBufferPointer($0)) }
        if isDone == nil { try ContiguousArray(bytes).withUnsafeBytes { try write($0) } }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws {
        defer { state.byteCount += bytes.count }
        if let upload = state.upload { return try upload.append(bytes) }
        guard state.first.count + bytes.count >= Column.defaultExternalThreshold else {
            return state.first.append(contentsOf: bytes)
        }
        let upload = try log.beginUpload()
        state.upload = upload
        try state.first.withUnsafeBytes { try upload.append($0) }
        state.first = []
        try upload.append(bytes)
    }

    /// Completes the value.
    ///
    /// - Returns: The value, for `setBlob` of objects in any context. One of fewer than 4,096 bytes is in memory, and its
    ///   object's row will have it.
    /// - Throws: As `write`.
    /// - Complexity: O(n) for the n last bytes, up to 8 MiB, for which the thread waits.
    public func finish() throws -> Blob {
        try state.withLock { state throws -> Blob in
            if let end = state.end { throw end }
            state.end = StorageError.translating(
                LogError(.closed, "The value was finished, or given up. Make another writer for another value."))
            guard let upload = state.upload.take() else { return Blob(place: .inline(Data(state.first))) }
            return Blob(place: .uploaded(try StorageError.translating { try upload.finish() }))
        }
    }

    /// Gives the value up; its bytes are freed by compaction.
    public func cancel() {
        state.withLock { state in
            if state.end == nil {
                state.end = StorageError.translating(
                    LogError(.closed, "The value was given up. Make another writer for another value."))
            }
            state.first = []
            state.upload = nil
        }
    }
}
