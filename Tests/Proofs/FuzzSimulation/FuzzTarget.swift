/// The interpretation of the fuzzer's bytes.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A file of a store whose other files are intact.
    case identity, lock, manifest, segment, moved, blob, checkpoint, run
    /// A run of a text index.
    case postings
    /// Several files of a store, and the same for salvage.
    case store, salvage
    /// A nested value, as each entry of the catalog.
    case catalog
    /// A row of a layout with a column of every kind.
    case row
    /// A value for a service's clients, as JSON.
    case identifier, cursor, token
    /// A text in a user's file.
    case mapping, schema, schemaLock

    /// Whether it has checksums.
    package var hasChecksums: Bool {
        switch self {
        case .identity, .manifest, .segment, .moved, .blob, .checkpoint, .run, .postings, .store, .salvage: true
        case .lock, .catalog, .row: false
        case .identifier, .cursor, .token, .mapping, .schema, .schemaLock: false
        }
    }

    /// Those that come from outside of a process without checksums, and are small.
    package static let untrusted: [FuzzTarget] = [.identifier, .cursor, .token, .mapping, .schema, .schemaLock]

    /// The store of the file.
    var origin: FuzzStore {
        switch self {
        case .identity, .lock, .segment, .blob, .store, .salvage, .catalog, .row: .written
        case .identifier, .cursor, .token, .mapping, .schema, .schemaLock: .written
        case .checkpoint, .run, .postings: .closed
        case .manifest, .moved: .compacted
        }
    }

    /// The beginning of the file's name.
    var namePrefix: String {
        switch self {
        case .identity: "IDENTITY"
        case .lock: "LOCK"
        case .manifest: "m-"
        case .segment: "s-"
        case .moved: "c-"
        case .blob: "b-"
        case .checkpoint: "t-"
        case .run, .postings: "r-"
        case .store, .salvage, .catalog, .row: ""
        case .identifier, .cursor, .token, .mapping, .schema, .schemaLock: ""
        }
    }
}

/// The error of code that handled bytes in a forbidden way.
package struct FuzzViolation: Error, CustomStringConvertible {
    package let description: String
}
