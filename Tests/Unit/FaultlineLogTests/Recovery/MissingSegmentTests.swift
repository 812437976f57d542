import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// Tables that name a segment which the manifest does not list: a contradiction that no crash leaves.
struct MissingSegmentTests {
    /// A store of one object with a blob, whose manifest lacks the segments of a kind before a checkpoint.
    private func store(without kind: FileKind) throws -> (store: Store, lost: String) {
        var options = Store.options
        options.segmentByteCount = 1_000
        let store = Store()
        let log = try store.open(options)
        _ = try log.write(author: nil) { transaction in
            let owner = BlobOwner(table: plainTable, slot: 0, id: 1)
            _ = try [UInt8](repeating: 1, count: 5_000).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
            _ = try transaction.insert(row(1, byteCount: 1_000), in: plainTable)
        }
        try log.insert([row(2)], in: plainTable)
        try log.close()

        let path = try #require(store.files(kind).first)
        let header = try #require(try store.disk.contents(path).withUnsafeBytes { FileHeader(reading: $0) })
        let numbers = try store.disk.names(in: Store.path).compactMap { FileName.parse($0) }
        let directory = StoreDirectory(
            disk: store.disk, path: Store.path, storeID: StoreID(high: header.storeHigh, low: header.storeLow),
            nextNumber: try #require(numbers.map(\.number).max()) + 1, random: RandomSource(seed: 9))
        let manifests = numbers.filter { $0.kind == .manifest }.map(\.number)
        let reading = try #require(try ManifestReader.newest(manifests, in: directory, for: .reading))
        var state = reading.state
        let isDropped = state.apply(.fileDropped(number: header.fileNumber))
        #expect(isDropped)
        _ = try Manifest(
            state, in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: reading.predecessor)
        return (store, path)
    }

    private func expect(_ error: LogError?, names path: String) throws {
        let error = try #require(error)
        #expect(error.code == .damaged)
        #expect("\(error)".contains(path.split(separator: "/").last ?? "-"), "\(error)")
        #expect("\(error)".contains(Store.path) && error.message.hasSuffix(LogError.damageRemedy), "\(error)")
    }

    @Test func `the error of a record names the file, and what to do`() throws {
        let (store, lost) = try store(without: .hotSegment)
        let log = try store.open()
        try expect(#expect(throws: LogError.self) { try log.snapshot().row(1, in: plainTable) }, names: lost)
        #expect(try log.snapshot().row(2, in: plainTable) == row(2))
        let found = try log.findings()
        #expect(found.contains { $0.kind == .damage && $0.message.contains(lost.split(separator: "/").last ?? "-") })
        log.abandonForTests()
    }

    @Test func `the error of a blob names the file, and what to do`() throws {
        let (store, lost) = try store(without: .blobSegment)
        let log = try store.open()
        try expect(#expect(throws: LogError.self) { try log.snapshot().blob(1) }, names: lost)
        #expect(try log.snapshot().row(1, in: plainTable) == row(1, byteCount: 1_000))
        let error = #expect(throws: LogError.self) { _ = try log.snapshot().blob(1) }
        #expect(error?.path == lost)
        log.abandonForTests()
    }
}
