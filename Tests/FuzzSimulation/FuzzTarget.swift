/// What the fuzzer's bytes are taken for.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A file of a store whose other files are whole.
    case identity, lock, manifest, segment, moved, blob, checkpoint, run
    /// Several files of a store, and the same as salvage sees them.
    case store, salvage
    /// A nested value, as each entry of the catalog.
    case catalog
    /// A row of a layout with a column of every kind.
    case row
    /// A value that a service gives its clients, as JSON.
    case identifier, cursor, token
    /// A text that people keep in files.
    case mapping, schema, schemaLock

    /// Whether there are checksums in it.
    package var hasChecksums: Bool {
        switch self {
        case .identity, .manifest, .segment, .moved, .blob, .checkpoint, .run, .store, .salvage: true
        case .lock, .catalog, .row: false
        case .identifier, .cursor, .token, .mapping, .schema, .schemaLock: false
        }
    }

    /// Those that come from outside of a process without checksums, and are small.
    package static let untrusted: [FuzzTarget] = [.identifier, .cursor, .token, .mapping, .schema, .schemaLock]

    /// The store that the file is one of.
    var origin: FuzzStore {
        switch self {
        case .identity, .lock, .segment, .blob, .store, .salvage, .catalog, .row: .written
        case .identifier, .cursor, .token, .mapping, .schema, .schemaLock: .written
        case .checkpoint, .run: .closed
        case .manifest, .moved: .compacted
        }
    }

    /// What the file's name begins with.
    var namePrefix: String {
        switch self {
        case .identity: "IDENTITY"
        case .lock: "LOCK"
        case .manifest: "m-"
        case .segment: "s-"
        case .moved: "c-"
        case .blob: "b-"
        case .checkpoint: "t-"
        case .run: "r-"
        case .store, .salvage, .catalog, .row: ""
        case .identifier, .cursor, .token, .mapping, .schema, .schemaLock: ""
        }
    }
}

/// Bytes were taken for something in a way that no bytes may be.
package struct FuzzViolation: Error, CustomStringConvertible {
    package let description: String
}
