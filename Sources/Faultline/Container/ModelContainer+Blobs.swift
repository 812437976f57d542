internal import FaultlineLog
public import FaultlineObjects
internal import FaultlineStore
public import Foundation

// Large values that are written beside saves.

extension ModelContainer {
    /// Makes a writer of a large value, which is written piece by piece and beside all saves.
    ///
    /// - Complexity: O(1); the writer's first 4,096 bytes begin to write.
    public func blobWriter() -> BlobWriter {
        // It belongs to the store of the object that gets the value.
        BlobWriter(
            rowStore.log, refusing: parts.map { _ in SeveralStoresError.ofOneStore("blobWriter()", "container") })
    }

    /// Writes a value from a sequence of pieces, such as the body of a request, before an object has it.
    ///
    ///     let pixels = try await container.makeBlob(from: request.body)
    ///     try await container.perform { context in
    ///         let photo = Photo(name: name)
    ///         photo.setBlob(pixels, for: \.pixels)
    ///         context.insert(photo)
    ///         try await context.save()
    ///     }
    ///
    /// A piece is asked for when the one before is written, so the store sets the pace. Memory: the largest piece, and
    /// about 1.5 MiB. The threads that wait for the disk are the container's.
    ///
    /// Durability, and the life of a value that no save uses: those of `BlobWriter`.
    ///
    /// - Parameters:
    ///   - bytes: The pieces: `Data`, `[UInt8]`, or any other sequence of bytes, best a contiguous one.
    ///   - isolation: The actor that the sequence belongs to: the caller's.
    /// - Returns: The value, for `setBlob` of objects in any context of the container.
    /// - Throws: The error of the sequence, as it is; `CancellationError` if the task is cancelled; `StorageError` as
    ///   `BlobWriter.write`. The bytes so far are given up then.
    /// - Complexity: O(n) for n bytes.
    public func makeBlob<Bytes: AsyncSequence>(
        from bytes: Bytes, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Blob where Bytes.Element: Sequence<UInt8> {
        let writer = blobWriter()
        do {
            var pieces: [UInt8] = []
            for try await piece in bytes {
                try Task.checkCancellation()
                pieces.append(contentsOf: piece)
                guard pieces.count >= Self.piecesByteCount else { continue }
                try await write(pieces, to: writer)
                pieces.removeAll(keepingCapacity: true)
            }
            try Task.checkCancellation()
            if !pieces.isEmpty { try await write(pieces, to: writer) }
            return try await onOwnThread { try writer.finish() }
        } catch {
            writer.cancel()
            throw error
        }
    }

    /// Bytes of pieces that are collected for one switch of threads.
    private static var piecesByteCount: Int { 256 << 10 }

    private nonisolated func write(_ bytes: [UInt8], to writer: BlobWriter) async throws {
        try await onOwnThread { try writer.write(bytes) }
    }

    /// Runs code that may wait for the disk on a thread of the container.
    private nonisolated func onOwnThread<R: Sendable>(_ body: @Sendable () throws -> R) async throws -> R {
        let enclosing = performing.pool.enclosing
        if let enclosing, enclosing.isBlocking { return try body() }
        return try await performing.pool.run(isBlocking: true, isNested: enclosing != nil, longestWait: nil) {
            try body()
        }
    }
}

extension PersistentModel {
    /// Sets an attribute to a value that comes as a sequence of pieces, such as the body of a request.
    ///
    /// The value is written to the store at once, and the next save of the object's context makes it the object's, as
    /// with `ModelContainer.makeBlob(from:)` and `setBlob(_:for:)`.
    ///
    /// - Parameters:
    ///   - bytes: The pieces.
    ///   - keyPath: The attribute.
    ///   - isolation: The actor that the object belongs to: the caller's.
    /// - Throws: `SwiftDataError.missingModelContext` if the object is in no context; else as
    ///   `ModelContainer.makeBlob(from:)`: the attribute is then as it was.
    /// - Complexity: O(n) for n bytes.
    public func setBlob<Bytes: AsyncSequence>(
        from bytes: Bytes, for keyPath: ReferenceWritableKeyPath<Self, Data?>,
        isolation: isolated (any Actor)? = #isolation
    ) async throws where Bytes.Element: Sequence<UInt8> {
        setBlob(try await containerForBlobs().makeBlob(from: bytes), for: keyPath)
    }

    /// Sets an attribute to a value that comes as a sequence of pieces, such as the body of a request.
    ///
    /// As the form for an optional attribute.
    ///
    /// - Throws: As the form for an optional attribute.
    /// - Complexity: As the form for an optional attribute.
    public func setBlob<Bytes: AsyncSequence>(
        from bytes: Bytes, for keyPath: ReferenceWritableKeyPath<Self, Data>,
        isolation: isolated (any Actor)? = #isolation
    ) async throws where Bytes.Element: Sequence<UInt8> {
        setBlob(try await containerForBlobs().makeBlob(from: bytes), for: keyPath)
    }

    private func containerForBlobs() throws -> ModelContainer {
        guard let modelContext else {
            throw SwiftDataError.missingModelContext.explained(
                "A value cannot be written for an object that is in no context. Insert the object first, or write the "
                    + "value with makeBlob(from:) of the container.")
        }
        return modelContext.container.part(of: Self.self)
    }
}
