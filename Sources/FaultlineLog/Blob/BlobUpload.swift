import FaultlineDisk
import Glibc

/// Writes one large value beside transactions, piece by piece, with the writer lock free.
///
/// Memory: 1.2 MiB, and 8 bytes for each chunk of 64 KiB.
///
/// Concurrency: guarded by the lock of its segment, `use`.
// Safe because mutable state is guarded by the lock.
package final class BlobUpload: @unchecked Sendable {
    /// Bytes after which all so far are synchronized, so that the end has little left to do.
    private static let unsynchronizedByteCountMax = 8 << 20
    /// Bytes that the commit may synchronize, with the headers.
    private static let leftByteCountMax = 1 << 20

    private let segments: UploadSegments
    private let segment: BlobSegment
    private let path: String
    /// The process that began it: a fork must not write.
    private let process = getpid()
    /// Where the value begins.
    private let start: UInt64
    private var isLeased = true
    private var writer: BlobWriter?
    /// Bytes of the next chunk.
    private let chunk: UnsafeMutableRawBufferPointer
    private var filledByteCount = 0
    private var unsynchronizedByteCount = 0
    private var byteCountSoFar: UInt64 = 0
    /// The error that ended it.
    private var failure: LogError?

    init(_ segments: UploadSegments, path: String, isCompressing: Bool) throws(LogError) {
        self.segments = segments
        self.path = path
        segment = try segments.lease()
        start = segment.end
        writer = BlobWriter(segment, isCompressing: isCompressing)
        chunk = BufferMemory.allocateBuffer(byteCount: Limits.chunkByteCount)
    }

    deinit {
        giveUp()
        BufferMemory.deallocate(chunk)
    }

    /// Bytes so far.
    package var byteCount: UInt64 { segment.use.withLock { byteCountSoFar } }

    /// Writes the next bytes of the value.
    ///
    /// - Throws: `.tooLarge` beyond a blob's largest size; `.fullDisk`, `.closed`, `.poisoned`; disk errors. After an
    ///   error each later call throws it too, and the bytes are dead.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(LogError) {
        try inUse { () throws(LogError) in
            guard UInt64(bytes.count) <= Limits.blobByteCountMax - byteCountSoFar else {
                throw .tooLarge("A blob has at most \(Limits.blobByteCountMax) bytes; more came.")
            }
            byteCountSoFar += UInt64(bytes.count)
            var rest = bytes
            while !rest.isEmpty {
                if filledByteCount == 0, rest.count >= chunk.count {
                    try write(UnsafeRawBufferPointer(rebasing: rest[..<chunk.count]))
                    rest = UnsafeRawBufferPointer(rebasing: rest[chunk.count...])
                    continue
                }
                let count = min(rest.count, chunk.count - filledByteCount)
                UnsafeMutableRawBufferPointer(rebasing: chunk[filledByteCount...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
                filledByteCount += count
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                if filledByteCount == chunk.count { try writeChunk() }
            }
        }
    }

    /// Completes the value: a transaction may place it from now on.
    ///
    /// - Throws: As `append`; `.closed` if the store was closed in the meantime.
    package func finish() throws(LogError) -> FinishedUpload {
        var body: BlobBody?
        try inUse { () throws(LogError) in
            if filledByteCount > 0 { try writeChunk() }
            guard let writer = writer.take() else { return }
            body = try writer.finishWithoutHeaders()
            if unsynchronizedByteCount > Self.leftByteCountMax { try synchronize() }
            isLeased = false
        }
        guard let body else { throw ended }
        return try segments.giveBack(segment, with: body)
    }

    /// Gives the value up: its bytes are dead.
    package func cancel() { giveUp() }

    /// Runs a step, unless an error or the store's end came before.
    private func inUse(_ step: () throws(LogError) -> Void) throws(LogError) {
        segment.use.lock()
        do throws(LogError) {
            guard writer != nil else { throw ended }
            if segment.isShut { throw .closed(path) }
            guard getpid() == process else {
                throw LogError(
                    .readOnly,
                    "The upload was begun before this process was forked. Open the store again in the child.",
                    path: path)
            }
            try step()
            segment.use.unlock()
        } catch {
            if failure == nil { failure = error }
            segment.use.unlock()
            giveUp()
            segments.note(error)
            throw error
        }
    }

    private var ended: LogError {
        failure ?? LogError(.closed, "The upload has ended. Begin another one for another value.", path: path)
    }

    private func writeChunk() throws(LogError) {
        let count = filledByteCount
        filledByteCount = 0
        try write(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
    }

    /// Writes a chunk: 65,536 bytes, or fewer if it is the last.
    private func write(_ bytes: UnsafeRawBufferPointer) throws(LogError) {
        guard var writer = writer.take() else { return }
        do throws(LogError) { try writer.append(bytes) } catch {
            self.writer = consume writer
            throw error
        }
        self.writer = consume writer
        unsynchronizedByteCount += bytes.count
        guard unsynchronizedByteCount >= Self.unsynchronizedByteCountMax else { return }
        try segments.checkMayWrite()
        try synchronize()
    }

    private func synchronize() throws(LogError) {
        try segment.synchronize(covering: segment.writeCount, site: "upload.commit")
        unsynchronizedByteCount = 0
    }

    /// Gives the segment back, with the bytes that were written as dead ones.
    private func giveUp() {
        segment.use.lock()
        guard isLeased else { return segment.use.unlock() }
        isLeased = false
        _ = writer.take()
        if !segment.isShut { segment.skipGivenUpBytes() }
        let deadByteCount = segment.end - start
        segment.use.unlock()
        segments.giveBack(segment, deadByteCount: deadByteCount)
    }
}
