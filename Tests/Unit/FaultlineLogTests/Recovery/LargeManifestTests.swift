import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// The manifest of a store with very many files.
struct LargeManifestTests {
    private static let fileCount: UInt64 = 50_000

    private let disk = SimulatedDisk(directories: ["/d"])
    private let directory: StoreDirectory

    init() {
        directory = StoreDirectory(
            disk: disk, path: "/d", storeID: StoreID(high: 1, low: 2), nextNumber: Self.fileCount + 1,
            random: RandomSource(seed: 1))
    }

    /// Sealed segments, each with its usage.
    private func state(fileCount: UInt64) -> ManifestState {
        var state = ManifestState()
        for number in 1...fileCount {
            let edits: [ManifestEdit] = [
                .fileAdded(
                    AddedFile(number: number, kind: .hotSegment, generation: 0, salt: number * 3, begun: number * 5)),
                .fileSealed(
                    SealedFile(
                        number: number, end: 1 << 28, chain: UInt32(number), firstSequence: number * 5 + 1,
                        lastSequence: number * 5 + 5)),
                .usage(segment: number, live: number, total: 1 << 28),
            ]
            for edit in edits where !state.apply(edit) { Issue.record("\(edit) is refused") }
        }
        return state
    }

    private func manifests() throws -> [UInt64] {
        try disk.names(in: "/d").compactMap { FileName.parse($0) }.filter { $0.kind == .manifest }.map(\.number)
    }

    private func newest() throws -> ManifestReader.Reading {
        try #require(try ManifestReader.newest(try manifests(), in: directory, for: .reading))
    }

    @Test func holdsASnapshotInSeveralFrames() throws {
        let state = state(fileCount: Self.fileCount)
        let manifest = try Manifest(state, in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: nil)
        let reading = try newest()
        #expect(reading.isWhole)
        #expect(reading.state.files == state.files)
        #expect(reading.state.origin?.ordinal == 1 && reading.state.origin?.epoch == 1)
        #expect(reading.state == manifest.state)

        // Each edit is appended: a snapshot above the first limit does not make every one a rotation.
        let before = try manifests()
        let counted = disk.operationCount
        for number in 1...50 as ClosedRange<UInt64> {
            try manifest.commit([.usage(segment: number, live: 7, total: 1 << 28)])
        }
        #expect(try manifests() == before)
        #expect(disk.operationCount - counted == 100)
        #expect(try newest().state == manifest.state)
    }

    @Test func tellsWhoseItIsAndWhoseItWas() throws {
        var rotating = LogOptions()
        rotating.manifestByteCount = 0
        rotating.manifestGrowth = 1
        let manifest = try Manifest(
            state(fileCount: 3), in: directory, rotation: Manifest.Rotation(rotating), replacing: nil)
        let first = try #require(try newest().state.origin)
        let number = try #require(try manifests().first)
        let path = "/d/" + FileName.numbered(.manifest, number)
        let head = FrameBytes(try disk.contents(path)).number(64, 4)
        try manifest.commit([.usage(segment: 1, live: 7, total: 1 << 28)])
        let second = try #require(try newest().state.origin)
        #expect(second.ordinal == first.ordinal + 1 && second.epoch == first.epoch)
        #expect(second.predecessor == number && Int(second.predecessorHead) == head)
        #expect(second.nonce != first.nonce)
        #expect(manifest.state.origin == second)
    }

    @Test func countsASnapshotOnlyWhenAllOfItVerifies() throws {
        let old = try Manifest(
            state(fileCount: 3), in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: nil)
        _ = try Manifest(
            state(fileCount: Self.fileCount), in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: nil)
        let path = "/d/" + FileName.numbered(.manifest, try #require(try manifests().max()))
        let bytes = try disk.contents(path)
        let frames = FrameBytes(bytes)
        #expect(frames.offsets.count == 3)
        for offset in frames.offsets {
            var rotten = bytes
            rotten[offset + 100] ^= 1
            try disk.replace(path, with: rotten)
            #expect(try newest().state == old.state)
            try disk.replace(path, with: Array(bytes[..<(offset + 30)]))
            #expect(try newest().state == old.state)
        }
    }

    @Test func makesEditsThatBelongTogetherDurableTogether() throws {
        let manifest = try Manifest(
            state(fileCount: 3), in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: nil)
        let before = manifest.state
        let path = "/d/" + FileName.numbered(.manifest, try #require(try manifests().max()))
        let edits = (0..<70_000).map { ManifestEdit.usage(segment: 1, live: UInt64($0), total: 1 << 28) }
        try manifest.commit(edits)
        #expect(try newest().state == manifest.state)
        let bytes = try disk.contents(path)
        let last = try #require(FrameBytes(bytes).offsets.last)
        try disk.replace(path, with: Array(bytes[..<last]))
        let torn = try newest()
        #expect(torn.state == before && !torn.isWhole)
    }
}
