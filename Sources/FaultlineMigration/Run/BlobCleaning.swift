internal import FaultlineLog
internal import FaultlineStore

/// Deletes the blobs that a migration left behind, after its switch: a list a transaction, so that it can stop anywhere
/// and go on at the next opening.
struct BlobCleaning {
    let log: Log

    func run() throws {
        let snapshot = log.snapshot()
        var lists: [RecordID] = []
        let first = StoredCatalog.RecordNumber.blobsLeftBehind
        guard snapshot.nextID(of: .catalog) > first else { return }
        for id in first..<snapshot.nextID(of: .catalog) where try !snapshot.location(of: id, in: .catalog).isAbsent {
            lists.append(id)
        }
        for id in lists {
            guard let list = try StoredCatalog.entry(LeftBehindBlobs.self, id, in: snapshot) else { continue }
            _ = try log.write(author: nil) { transaction in
                for blob in list.identifiers where try !transaction.location(of: blob, in: .blobs).isAbsent {
                    try transaction.deleteBlob(blob)
                }
                try transaction.delete(id, in: .catalog)
            }
        }
    }
}
