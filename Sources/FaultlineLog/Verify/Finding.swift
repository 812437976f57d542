/// Something that a verification found.
package struct Finding: Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// Bytes are not what was written.
        case damage
        /// Two parts of the store contradict each other.
        case contradiction
        /// A file that nothing refers to.
        case leftover
    }

    package let kind: Kind
    /// What was found, in a sentence; not what to do.
    package let message: String
    package let path: String?
    /// In the file, in bytes from its start.
    package let offset: UInt64?
    package let table: TableID?
    package let id: RecordID?

    init(
        _ kind: Kind, _ message: String, path: String? = nil, offset: UInt64? = nil, table: TableID? = nil,
        id: RecordID? = nil
    ) {
        self.kind = kind
        self.message = message
        self.path = path
        self.offset = offset
        self.table = table
        self.id = id
    }

    init(_ error: LogError, table: TableID? = nil, id: RecordID? = nil) {
        self.init(.damage, error.fault, path: error.path, offset: error.offset, table: table, id: id)
    }

    package var description: String {
        "\(kind.rawValue): \(message)" + (path.map { " [\($0)\(offset.map { ", offset \($0)" } ?? "")]" } ?? "")
    }
}
