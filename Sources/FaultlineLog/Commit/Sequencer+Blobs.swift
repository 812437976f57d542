import FaultlineDisk

extension Sequencer {
    /// Returns the blob segment to write to; creates it, or its successor, if necessary.
    func openBlobSegment() throws(LogError) -> BlobSegment {
        try checkMayGrow()
        if let blobs, !blobs.hasFailed, blobs.end < account.segmentByteCount { return blobs }
        do throws(LogError) { try manifest.makeRoom() } catch { throw fail(error) }
        var edits: [ManifestEdit] = []
        if let old = blobs {
            do throws(LogError) {
                try old.synchronize(through: old.end, site: "blob.seal")
            } catch {
                // Blobs of queued transactions may lie in it.
                publisher.fail(error)
                throw fail(error)
            }
            let begun = manifest.state.files[old.managed.number]?.added.begun ?? 0
            edits.append(.fileSealed(old.seal(begun: begun, last: sequence + 1)))
        }
        let fresh = try BlobSegment.make(
            in: directory, manifest, publisher, begun: sequence, with: edits, headerSite: "blob.header",
            directorySite: "blob.directory")
        if let blobs { countWrittenBlobs(in: blobs) }
        if let old = blobs?.managed {
            old.releaseReserve()
            directory.letRest(old)
        }
        blobs = fresh
        return fresh
    }

    /// Writes a blob whose bytes are in memory, and places it.
    func putBlob(_ bytes: UnsafeRawBufferPointer, owner: BlobOwner) throws(LogError) -> RecordID {
        try checkBlob(UInt64(bytes.count))
        return try writeBlob(owner: owner) { (writer) throws(LogError) in
            var start = 0
            while start < bytes.count {
                let end = min(start + Limits.chunkByteCount, bytes.count)
                try writer.append(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                start = end
            }
        }
    }

    /// Places a large value that was written beside transactions: writes its headers, and no other byte of it.
    ///
    /// If its headers were written before, or its segment gets no more bytes, the value is copied.
    func putBlob(_ upload: FinishedUpload, owner: BlobOwner) throws(LogError) -> RecordID {
        if let failure = current.failure { throw failure }
        guard uploads.claim(upload) else { return try copyBlob(upload.held, owner: owner) }
        countUploads()
        let segment = upload.segment
        current.writtenBlobs.append((UInt32(truncatingIfNeeded: segment.managed.number), upload.byteCountInSegment))
        let id = tables.allocate(1, in: TableID.blobs.rawValue)
        let placement: BlobPlacement
        do throws(LogError) {
            placement = try segment.writeHeaders(of: upload.body, id: id, owner: owner)
        } catch {
            throw fail(error)
        }
        current.noteUpload(in: segment)
        try put(placement, of: id)
        return id
    }

    /// Copies a blob without decompressing it.
    func copyBlob(_ id: RecordID, owner: BlobOwner) throws(LogError) -> RecordID {
        let (placement, managed) = try placement(of: id)
        return try copyBlob(HeldBlob(id: id, placement: placement, file: managed), owner: owner)
    }

    /// Copies a blob, of this store or another one, without decompressing it.
    func copyBlob(_ held: HeldBlob, owner: BlobOwner) throws(LogError) -> RecordID {
        var reader = try held.reader()
        let segment = try openBlobSegment()
        var writer = BlobWriter(segment, isCompressing: false)
        do throws(LogError) {
            try writer.append(all: &reader)
        } catch {
            segment.skipGivenUpBytes()
            throw fail(error)
        }
        return try place(writer, owner: owner)
    }

    /// The placement of a blob, as the current transaction sees it.
    func placement(of id: RecordID) throws(LogError) -> (BlobPlacement, ManagedFile) {
        let location = try tables.location(of: id, in: TableID.blobs.rawValue)
        guard !location.isAbsent else { throw LogError(.missing, "Blob \(id) does not exist.") }
        let found: BlobPlacement?
        if let bytes = pendingRecord(at: location) {
            let header = RecordHeader(reading: bytes)
            found = BlobPlacement(
                reading: UnsafeRawBufferPointer(start: bytes + RecordHeader.byteCount, count: header.storedByteCount))
        } else {
            found = try IndexReplay.row(id, .blobs, location, publisher.snapshot.files) { _, view in
                BlobPlacement(reading: view.row)
            }
        }
        guard let found else { throw LogError(.damaged, "The placement of blob \(id) is not understood.") }
        let files = publisher.snapshot.files
        guard let file = files.find(UInt32(truncatingIfNeeded: found.segment)) else {
            throw files.missing(id, found)
        }
        return (found, file.takeUnretainedValue())
    }

    private func writeBlob(
        owner: BlobOwner, _ body: (inout BlobWriter) throws(LogError) -> Void
    ) throws(LogError) -> RecordID {
        let segment = try openBlobSegment()
        var writer = BlobWriter(segment, isCompressing: options.isCompressingBlobs)
        do throws(LogError) {
            try body(&writer)
        } catch {
            segment.skipGivenUpBytes()
            throw fail(error)
        }
        return try place(writer, owner: owner)
    }

    /// Completes a blob and writes its placement record.
    func place(_ writer: consuming BlobWriter, owner: BlobOwner) throws(LogError) -> RecordID {
        let id = tables.allocate(1, in: TableID.blobs.rawValue)
        try place(writer, id: id, owner: owner)
        return id
    }

    /// Completes a blob that has an identifier already, and writes its placement record.
    func place(_ writer: consuming BlobWriter, id: RecordID, owner: BlobOwner) throws(LogError) {
        let segment = writer.segment
        let placement: BlobPlacement
        do {
            placement = try writer.finish(id: id, owner: owner)
        } catch {
            segment.skipGivenUpBytes()
            throw fail(error)
        }
        noteBlobs()
        try put(placement, of: id)
    }

    /// Writes the placement record of a blob.
    private func put(_ placement: BlobPlacement, of id: RecordID) throws(LogError) {
        committer.noteBlob(placement.storedByteCount)
        try put(id, in: .blobs, layout: 0, changed: nil, flags: .noIndexChange, byteCount: BlobPlacement.byteCount) {
            bytes in
            if let start = bytes.baseAddress { placement.write(to: start) }
        }
    }

    func checkBlob(_ byteCount: UInt64) throws(LogError) {
        guard byteCount <= Limits.blobByteCountMax else {
            throw .tooLarge("A blob has at most \(Limits.blobByteCountMax) bytes; this one has \(byteCount).")
        }
    }
}

extension BlobSegment {
    /// Makes a segment, durable and listed in the manifest.
    ///
    /// - Parameters:
    ///   - directory: The store's directory.
    ///   - manifest: Lists the segment; the caller has called `makeRoom`.
    ///   - publisher: Gets the file.
    ///   - begun: A transaction before the first that may have blobs in it.
    ///   - edits: Edits of the same group, such as the seal of the segment before.
    ///   - headerSite: Names the synchronization of the file.
    ///   - directorySite: Names the synchronization of the directory.
    /// - Returns: The segment, empty.
    /// - Throws: Disk errors.
    static func make(
        in directory: StoreDirectory, _ manifest: Manifest, _ publisher: Publisher, begun: UInt64,
        with edits: [ManifestEdit] = [], headerSite: SyncSite, directorySite: SyncSite
    ) throws(LogError) -> BlobSegment {
        let managed = try directory.createDurably(.blobSegment, headerSite: headerSite, directorySite: directorySite)
        managed.noteListed()
        try manifest.commit(edits + [managed.addition(begun: begun)])
        publisher.update(files: { $0.adding(managed) })
        return BlobSegment(managed, end: UInt64(FileHeader.byteCount), previousHead: 0, progress: directory.progress)
    }
}
