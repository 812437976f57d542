internal import FaultlineStore

extension Draft {
    /// Makes the row of the draft's values; it is valid during the call.
    func withRow<R>(_ table: UnsafePointer<LayoutTable>, _ body: (RowView) throws -> R) rethrows -> R {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(encodedByteCount, 1), alignment: 8)
        defer { bytes.deallocate() }
        let written = encode(into: bytes)
        return try body(RowView(trusted: bytes, byteCount: written, table: table, hasExtension: hasExtension))
    }
}
