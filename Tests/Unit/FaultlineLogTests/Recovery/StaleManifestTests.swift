import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// The newest manifest is damaged while an older one comes back: segments that only the newest lists stay.
struct StaleManifestTests {
    /// A store that was killed twice, and the manifest that the second opening replaced.
    private func store() throws -> (store: Store, stale: String, bytes: [UInt8]) {
        let first = Store()
        try first.open().insert([row(1)])
        let store = first.killed
        try store.tear()
        let stale = try #require(store.files(.manifest).last)
        let bytes = try store.disk.contents(stale)
        let log = try store.open()
        try log.insert([row(2)])
        log.abandonForTests()
        return (store.killed, stale, bytes)
    }

    @Test func refusesToGoBackToAStaleManifest() throws {
        let (store, stale, bytes) = try store()
        let newest = try #require(store.files(.manifest).last)
        let segments = store.files(.hotSegment)
        #expect(newest > stale && segments.count == 2)
        for offset in [40, 64 + 20] {
            let rotten = store.killed
            rotten.disk.corrupt(newest, at: offset) { $0 ^ 1 }
            #expect(rotten.openingCode() == .damaged)
            try rotten.disk.place(bytes, at: stale)
            #expect(rotten.openingCode() == .damaged)
            #expect(rotten.files(.hotSegment) == segments)
            #expect(rotten.files(.manifest) == [stale, newest])
        }
    }

    /// Otherwise a reader would take an older state for the newest, and verification would find it sound.
    @Test func refusesToReadWithoutTheEditThatListsASegment() throws {
        var options = Store.options
        options.access = .reading
        let (store, stale, bytes) = try store()
        let newest = try #require(store.files(.manifest).last)
        let sound = try store.killed.open(options)
        #expect(sound.snapshot().recordCount(of: testTable) == 2)
        sound.abandonForTests()
        let rotten = store.killed
        rotten.disk.corrupt(newest, at: 64 + 20) { $0 ^ 1 }
        try rotten.disk.place(bytes, at: stale)
        let files = rotten.disk.filePaths
        let error = #expect(throws: LogError.self) { try rotten.open(options) }
        #expect(error?.code == .damaged && error?.path?.contains("/s-") == true)
        #expect(rotten.disk.filePaths == files)
    }

    @Test func setsANewerManifestAsideThatDoesNotVerify() throws {
        let store = Store()
        try store.open().close()
        let newer = Store.path + "/m-00000000000000ff.flm"
        let manifest = try #require(store.files(.manifest).last)
        var bytes = try store.disk.contents(manifest)
        bytes[70] ^= 1
        try store.disk.place(bytes, at: newer)
        let log = try store.open()
        #expect(!log.openReport.wasClean)
        #expect(log.openReport.quarantinedFiles == ["m-00000000000000ff.flm"])
        #expect(store.disk.filePaths.contains(Store.path + "/quarantine/m-00000000000000ff.flm"))
        // The one in force is newer than the quarantined one.
        #expect(store.files(.manifest).allSatisfy { $0 > newer })
    }

    @Test func findsTheFramesOfASegmentBehindBytesThatAreNone() throws {
        let store = Store()
        let log = try store.open()
        let manifest = try #require(store.files(.manifest).last)
        let before = try store.disk.contents(manifest)
        let hot = try #require(store.files(.hotSegment).last)
        let header = try store.disk.contents(hot)
        let owner = BlobOwner(table: testTable, slot: 0, id: 1)
        _ = try log.write(author: nil) { transaction in
            for byte: UInt8 in [1, 2] {
                try [UInt8](repeating: byte, count: 900).withUnsafeBytes {
                    _ = try transaction.putBlob($0, owner: owner)
                }
            }
        }
        log.abandonForTests()

        // The manifest and the log are the earlier ones: nothing lists the blobs.
        let blobs = try #require(store.files(.blobSegment).last)
        try store.disk.replace(manifest, with: before)
        try store.disk.replace(hot, with: header)
        #expect(store.killed.openingCode() == .damaged)
        // Without its first frame it still has one; without both it is not needed.
        try store.disk.overwrite(blobs, at: 64, [UInt8](repeating: 0, count: 48))
        #expect(store.killed.openingCode() == .damaged)
        let second = try store.disk.contents(blobs).count / 2 + 32
        try store.disk.overwrite(blobs, at: second - 32, [UInt8](repeating: 0, count: 80))
        #expect(store.killed.openingCode() == nil)
    }

    @Test func removesASegmentThatWasDroppedAlthoughItHoldsFrames() throws {
        let store = Store()
        let log = try store.open()
        let owner = BlobOwner(table: testTable, slot: 0, id: 1)
        let blob = try log.write(author: nil) { transaction in
            try [UInt8](repeating: 1, count: 900).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
        }.value
        _ = try log.write(author: nil) { try $0.deleteBlob(blob) }
        try log.close()

        // Like a later version: the edit is there, the removal is not.
        let path = try #require(store.files(.blobSegment).last)
        let header = try #require(try store.disk.contents(path).withUnsafeBytes { FileHeader(reading: $0) })
        let numbers = try store.disk.names(in: Store.path).compactMap { FileName.parse($0) }
        let directory = StoreDirectory(
            disk: store.disk, path: Store.path, storeID: StoreID(high: header.storeHigh, low: header.storeLow),
            nextNumber: try #require(numbers.map(\.number).max()) + 1, random: RandomSource(seed: 9))
        let manifests = numbers.filter { $0.kind == .manifest }.map(\.number)
        let reading = try #require(try ManifestReader.newest(manifests, in: directory, for: .reading))
        var state = reading.state
        let isDropped = state.apply(.fileDropped(number: header.fileNumber))
        #expect(isDropped && state.dropped == [header.fileNumber])
        let manifest = try Manifest(
            state, in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: reading.predecessor)
        #expect(manifest.state.dropped == [header.fileNumber])

        let killed = store.killed
        let again = try killed.open()
        #expect(killed.files(.blobSegment).isEmpty)
        #expect(again.openReport.removedFiles.contains(String(path.dropFirst(Store.path.count + 1))))
        // Once the file is gone, the next snapshot omits it.
        try store.disk.remove(path)
        let last = try Manifest(
            manifest.state, in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: nil)
        #expect(last.state.dropped.isEmpty)
    }

    /// A process ends between writing its last manifest and synchronizing it; the next opening finds it complete, and
    /// clean.
    @Test(arguments: [0, 1 << 20]) func makesWhatItFindsDurableBeforeItRemovesWhatWasBefore(
        manifestByteCount: Int
    ) throws {
        var options = Store.options
        options.manifestByteCount = manifestByteCount
        options.manifestGrowth = 1
        options.segmentByteCount = 1_000
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        for number in 0..<20 { try log.insert([row(number)]) }
        try log.checkpoint()
        for number in 20..<30 { try log.insert([row(number)]) }
        disk.arm(
            DiskFault(isSticky: true) { operation in
                operation.kind == .synchronize && operation.path.contains("/m-")
            })
        #expect(throws: LogError.self) { try log.close() }

        let killed = store.killed
        try killed.open(options).abandonForTests()
        let found = try Store(killed.disk.withOnlyWhatIsDurable()).open(options)
        #expect(found.openReport.ignoredDerivedFiles.isEmpty)
        for number in 0..<30 { #expect(try found.snapshot().row(UInt64(number + 1)) == row(number)) }
        found.abandonForTests()
    }

    @Test func replacesAManifestForGood() throws {
        var options = Store.options
        options.manifestByteCount = 0
        options.manifestGrowth = 1
        let store = Store()
        let log = try store.open(options)
        try log.insert([row(1)])
        try log.checkpoint()
        #expect(store.disk.synchronizationCounts["manifest.removal"] ?? 0 > 0)
        #expect(store.files(.manifest).count == 1)
        // If it cannot be removed, the log stops: a stale manifest must not stay.
        let disk = FailingDisk(over: store.disk)
        log.abandonForTests()
        let again = try store.open(options, on: disk)
        try again.insert([row(2)])
        disk.arm(DiskFault(of: [.remove], on: "/m-", isSticky: true))
        #expect(throws: LogError.self) { try again.checkpoint() }
        #expect(again.failure != nil)
        disk.disarm()
        let recovered = try store.killed.open(options)
        #expect(recovered.snapshot().sequence == 2)
    }
}
