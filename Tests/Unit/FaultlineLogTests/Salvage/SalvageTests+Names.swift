import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// Files whose names differ from their headers.
extension SalvageTests {
    /// Swaps the names of two files of a store.
    private func swap(_ one: String, _ other: String, on disk: SimulatedDisk) throws {
        let (first, second) = (try disk.contents(one), try disk.contents(other))
        try disk.replace(one, with: second)
        try disk.replace(other, with: first)
    }

    @Test(
        "A22: two files with each other's names lose nothing, and the report says so",
        arguments: [
            (FileKind.hotSegment, FileKind.hotSegment), (.hotSegment, .blobSegment), (.hotSegment, .manifest),
            (.blobSegment, .manifest), (.hotSegment, .tableCheckpoint), (.hotSegment, .indexRun),
        ])
    func swappedNames(_ one: FileKind, _ other: FileKind) throws {
        var options = Store.options
        options.segmentByteCount = 2_000
        let store = try filledStore(options)
        let first = try #require(store.files(one).first)
        let second = try #require(store.files(other).last)
        #expect(first != second)
        try swap(first, second, on: store.disk)
        #expect(store.openingCode(options) == .damaged)
        let salvaged = try SalvagedStore(store)
        #expect(!salvaged.report.hasLoss)
        try check(salvaged)
        // A checkpoint or run under a segment's name is not read: the records have the same content.
        let isDerived = other == .tableCheckpoint || other == .indexRun
        for path in isDerived ? [second] : [first, second] {
            let isTold = salvaged.findings.contains {
                guard case .remark(let remark) = $0 else { return false }
                return remark.path == path && remark.text.contains("by its header")
            }
            #expect(isTold, "\(path)")
        }
    }

    @Test("A22: a segment is found under any name, and a copy of it is not read twice")
    func anyName() throws {
        let store = try filledStore()
        let path = try #require(store.files(.hotSegment).first)
        let bytes = try store.disk.contents(path)
        try store.disk.replace(Store.path + "/#4711", with: bytes)
        try store.disk.replace(Store.path + "/notes.txt", with: [1, 2, 3])
        let copied = try SalvagedStore(Store(store.disk.afterProcessDeath()))
        #expect(!copied.report.hasLoss && copied.findings.count == 1)
        try store.disk.remove(path)
        let salvaged = try SalvagedStore(store)
        #expect(!salvaged.report.hasLoss && salvaged.findings.count == 1)
        try check(salvaged)
    }
}
