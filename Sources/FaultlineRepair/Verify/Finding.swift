package import FaultlineLog

/// A finding of a verification.
package struct Finding: Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// Bytes differ from the written ones.
        case damage
        /// Two parts of the store contradict each other.
        case contradiction
        /// A file that nothing refers to.
        case leftover
    }

    package let kind: Kind
    /// The finding, in a sentence, without a remedy.
    package let message: String
    package let path: String?
    /// The offset in the file, in bytes from its start.
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
