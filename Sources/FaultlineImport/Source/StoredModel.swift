#if Import
internal import CSQLite
internal import FaultlineCoreData
internal import FaultlineModel
internal import Foundation

/// The model that Core Data keeps in a store, in the table `Z_MODELCACHE`: a compiled model, deflated.
enum StoredModel {
    /// The most bytes of a model, deflated and inflated.
    private static let byteCountMax = ModelVersion.byteCountMax

    /// Reads the model.
    ///
    /// - Throws: `modelMismatch` if the store has none that can be read.
    static func schema(_ database: SQLiteDatabase, _ catalog: SourceCatalog) throws(ImportError) -> Schema {
        func missing(_ reason: String) -> ImportError {
            ImportError(
                .modelMismatch,
                "\(database.path) \(reason). Give the model that it was last opened with: an .xcdatamodeld, a .momd, or a schema.",
                path: database.path)
        }
        guard catalog.tables["Z_MODELCACHE"] != nil else { throw missing("has no model in it") }
        let query = try database.query(
            "SELECT Z_CONTENT FROM Z_MODELCACHE WHERE length(Z_CONTENT) <= \(byteCountMax) LIMIT 1")
        guard try query.next(), case .blob(let bytes) = query.value(0), !bytes.isEmpty else {
            throw missing("has no model in it")
        }
        guard let model = inflate(bytes) else { throw missing("has a model in it that cannot be inflated") }
        do throws(ModelFileError) {
            return try ModelVersion(compiled: model, name: "Z_MODELCACHE", path: database.path).schema
        } catch { throw missing("has a model in it that cannot be read: \(error.message)") }
    }

    /// Inflates bytes without a header (RFC 1951); nil if they are malformed or become too many.
    private static func inflate(_ bytes: UnsafeRawBufferPointer) -> Data? {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(&stream, -MAX_WBITS, ZLIB_VERSION, size) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        // Safe because zlib only reads them, although it asks for a mutable pointer.
        stream.next_in = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.avail_in = UInt32(truncatingIfNeeded: bytes.count)
        var inflated = Data()
        var piece = [UInt8](repeating: 0, count: 65_536)
        while inflated.count <= byteCountMax {
            let status = piece.withUnsafeMutableBufferPointer { target in
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(truncatingIfNeeded: target.count)
                return CSQLite.inflate(&stream, Z_NO_FLUSH)
            }
            inflated.append(contentsOf: piece[..<(piece.count - Int(stream.avail_out))])
            if status == Z_STREAM_END { return inflated }
            guard status == Z_OK else { return nil }
        }
        return nil
    }
}
#endif
