import FaultlineLog
import FaultlineStore
import Testing

/// The progress of a mapped stage, read from an untrusted file.
struct MappedProgressTests {
    /// The keys of such progress, all of them whole numbers but one.
    private struct Written: Encodable {
        var pass: Int? = 1
        var mapping: Int? = 2
        var isBegun: Bool? = true
        var lastDone: UInt64? = 30
        var done: Int? = 4
        var end: UInt64? = 50
        var merging: [Int]? = [0, 2]
        var leftBehindCount: Int? = 6
        var blobsLeftBehind: Int? = 7
        var rowRule: Int? = 8
    }

    private func read(_ change: (inout Written) -> Void = { _ in }) throws -> MappedProgress {
        var written = Written()
        change(&written)
        let bytes = try NestedEncoder.encode(written)
        return try bytes.withUnsafeBytes { try NestedDecoder.decode(MappedProgress.self, from: $0) }
    }

    @Test func `written progress is read back`() throws {
        let progress = try read()
        #expect(progress.pass == .relate && progress.mapping == 2 && progress.isBegun)
        #expect(progress.lastDone == 30 && progress.done == 4 && progress.end == 50)
        #expect(progress.merging == [0, 2] && progress.leftBehindCount == 6 && progress.blobsLeftBehind == 7)
        #expect(progress.rowRule == 8)
        let bytes = try NestedEncoder.encode(progress)
        #expect(try bytes.withUnsafeBytes { try NestedDecoder.decode(MappedProgress.self, from: $0) } == progress)
    }

    @Test func `fields that another release leaves out are as at the beginning of a pass`() throws {
        let progress = try read {
            $0 = Written(
                isBegun: nil, done: nil, end: nil, merging: nil, leftBehindCount: nil, blobsLeftBehind: nil,
                rowRule: nil)
        }
        #expect(progress.pass == .relate && progress.mapping == 2 && progress.lastDone == 30)
        #expect(!progress.isBegun && progress.done == 0 && progress.end == 0)
        #expect(progress.merging == [] && progress.leftBehindCount == 0 && progress.blobsLeftBehind == 0)
        #expect(progress.rowRule == 0)
    }

    @Test func `numbers that cannot be are refused`() {
        let changes: [(inout Written) -> Void] = [
            { $0.pass = 4 }, { $0.pass = -1 }, { $0.pass = nil }, { $0.mapping = -1 }, { $0.mapping = .max },
            { $0.lastDone = Limits.recordIDMax + 1 }, { $0.lastDone = .max }, { $0.end = .max }, { $0.done = -1 },
            { $0.done = .max }, { $0.merging = [0, -1] }, { $0.leftBehindCount = -1 }, { $0.blobsLeftBehind = .min },
            { $0.rowRule = -1 },
        ]
        for (place, change) in changes.enumerated() {
            #expect(throws: (any Error).self, "change \(place)") { try read(change) }
        }
    }
}
