import FaultlineLog
import FaultlineStore
import Testing

/// The records of data that a migration leaves to be deleted, read from an untrusted file.
struct LeftBehindTests {
    private struct Written: Encodable {
        var blobs: [UInt64]?
        var firstBlob: UInt64?
        var endBlob: UInt64?
        var table: UInt16?
    }

    private func read(_ written: Written) throws -> LeftBehind {
        let bytes = try NestedEncoder.encode(written)
        return try bytes.withUnsafeBytes { try NestedDecoder.decode(LeftBehind.self, from: $0) }
    }

    @Test func `a table of an entity is read back`() throws {
        #expect(try read(Written(table: TableID.firstEntity)) == .table(TableID.firstEntity))
    }

    @Test(arguments: [0, TableID.catalog.rawValue, TableID.history.rawValue, TableID.firstEntity - 1])
    func `tables of the engine are refused, so that no file makes a store drop them`(table: UInt16) {
        #expect(throws: DecodingError.self) { try read(Written(table: table)) }
    }
}
