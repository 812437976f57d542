import FaultlineLog
import FaultlineTestSupport

// Operations on blobs in a transaction.

extension ModelLife {
    private static let blobCountMax = 8

    private struct BrokenStream: Error {}

    /// Runs an operation on blobs.
    func changeBlobs(_ kind: ModelKind, _ random: inout Seed, _ transaction: inout Transaction) throws {
        let ids = draft.blobs.ids
        switch kind {
        case .deleteBlob, .replaceBlob, .copyBlob:
            guard !ids.isEmpty else { return }
            let id = random.pick(ids)
            if kind == .copyBlob {
                let copy = try transaction.copyBlob(id, owner: Self.blobOwner)
                try place(draft.blobs[id] ?? [], copy)
            } else {
                try deleteBlob(id, &transaction)
            }
            if kind == .replaceBlob { try putBlob(random.bytes(random.below(3_000)), &transaction) }
        case .placeUpload:
            guard !uploads.isEmpty else { return }
            let number = random.below(uploads.count)
            let (upload, bytes) = uploads[number]
            try place(bytes, try transaction.putBlob(upload, owner: Self.blobOwner))
            // One that is placed again is copied.
            if !random.oneIn(4) { uploads.remove(at: number) }
        case .failStream, .miscountStream: try failStream(kind, &random, &transaction)
        case .streamBlob, .streamAnnouncedBlob:
            let bytes = random.bytes(random.pick([0, 300, 65_536, 90_000]))
            let announced = kind == .streamAnnouncedBlob ? UInt64(bytes.count) : nil
            try place(bytes, try stream(bytes, announced: announced, &transaction))
        case .putLargeBlob: try putBlob(random.bytes(65_537 + random.below(80_000)), &transaction)
        case .putCompressibleBlob:
            let byteCount = 500 + random.below(70_000)
            try putBlob([UInt8](repeating: UInt8(random.below(256)), count: byteCount), &transaction)
        case .putSmallBlob: try putBlob(random.bytes(random.below(20)), &transaction)
        default: try putBlob(random.bytes(random.below(5_000)), &transaction)
        }
        if draft.blobs.count > Self.blobCountMax { try deleteBlob(draft.blobs.ids[0], &transaction) }
        did()
    }

    /// Writes a large value beside transactions: it waits for one, or is given up.
    func upload(_ random: inout Seed) throws {
        let bytes = random.bytes(1 + random.below(random.pick([50, 5_000, 90_000])))
        let upload = try log.beginUpload()
        var start = 0
        while start < bytes.count {
            let end = min(start + 1 + random.below(40_000), bytes.count)
            try bytes[start..<end].withUnsafeBytes { try upload.append($0) }
            start = end
        }
        did()
        if random.oneIn(4) { return upload.cancel() }
        uploads.append((try upload.finish(), bytes))
        if uploads.count > 3 { uploads.removeFirst() }
    }

    private func stream(
        _ bytes: [UInt8], announced: UInt64?, breakAt end: Int = .max, _ transaction: inout Transaction
    ) throws -> RecordID {
        var given = 0
        return try transaction.putBlob(byteCount: announced, owner: Self.blobOwner) { target in
            if given >= end { throw BrokenStream() }
            let piece = bytes[given..<min(given + min(target.count, 7_000), bytes.count)]
            target.copyBytes(from: piece)
            given += piece.count
            return piece.count
        }
    }

    /// Fails in a stream, or ends it at another size than announced.
    ///
    /// The transaction continues without the blob.
    private func failStream(_ kind: ModelKind, _ random: inout Seed, _ transaction: inout Transaction) throws {
        let bytes = random.bytes(1 + random.below(80_000))
        do {
            if kind == .failStream {
                _ = try stream(bytes, announced: nil, breakAt: random.below(bytes.count), &transaction)
            } else {
                let isMore = random.oneIn(2)
                _ = try stream(bytes, announced: UInt64(bytes.count + (isMore ? 5 : -1)), &transaction)
            }
        } catch is BrokenStream {
            return
        } catch let error as LogError where error.code == .tooLarge || error.code == .missing {
            return
        }
        throw ModelViolation("a stream of \(bytes.count) bytes that broke was taken for whole")
    }
}
