package import FaultlineLog

/// Data that a migration leaves to be deleted after its switch, or after it is abandoned.
///
/// One catalog record each, written in the transaction after which the data is not needed any more
/// (`docs/FileFormat.md` section 7).
package enum LeftBehind: Sendable, Equatable {
    /// Blobs that no new object uses.
    case blobs([UInt64])
    /// Blobs from `first` up to, not including, `end`: those that an abandoned migration wrote.
    case blobRange(first: UInt64, end: UInt64)
    /// The table of a removed entity, with the blobs of its rows.
    case table(UInt16)
}

extension LeftBehind {
    /// The most blobs that one record names.
    private static let blobsMax = 16_384

    /// Records blobs to be deleted for the current migration, in as many records as they need.
    package static func leave(_ blobs: [UInt64], in transaction: inout Transaction) throws(StoreError) {
        guard !blobs.isEmpty, var migration = try StoredCatalog.migration(in: transaction) else { return }
        for start in stride(from: 0, to: blobs.count, by: blobsMax) {
            try StoredCatalog.put(
                LeftBehind.blobs(Array(blobs[start..<min(start + blobsMax, blobs.count)])),
                StoredCatalog.RecordNumber.leftBehind + RecordID(migration.leftBehindCount), in: &transaction)
            migration.leftBehindCount += 1
        }
        try StoredCatalog.put(migration, StoredCatalog.RecordNumber.migration, in: &transaction)
    }
}

extension LeftBehind: Codable {
    private enum CodingKeys: String, CodingKey { case blobs, firstBlob, endBlob, table }

    /// Decodes the one case whose keys are present.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let blobs = try container.decodeIfPresent([UInt64].self, forKey: .blobs) {
            self = .blobs(blobs)
        } else if let first = try container.decodeIfPresent(UInt64.self, forKey: .firstBlob) {
            self = .blobRange(first: first, end: try container.decode(UInt64.self, forKey: .endBlob))
        } else {
            let table = try container.decode(UInt16.self, forKey: .table)
            // The number comes from a file, and the table will be dropped.
            guard table >= TableID.firstEntity else {
                throw DecodingError.dataCorruptedError(
                    forKey: .table, in: container, debugDescription: "Table \(table) belongs to the engine.")
            }
            self = .table(table)
        }
    }

    /// Encodes the keys of the case.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .blobs(let blobs):
            try container.encode(blobs, forKey: .blobs)
        case .blobRange(let first, let end):
            try container.encode(first, forKey: .firstBlob)
            try container.encode(end, forKey: .endBlob)
        case .table(let table):
            try container.encode(table, forKey: .table)
        }
    }
}
