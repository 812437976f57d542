import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Two copies of a store that were both written to: files with the same number differ.
struct ForkTests {
    /// Two stores that were one, each with a separate segment, checkpoint and run, with equal numbers.
    private func forks() throws -> (Store, Store) {
        var options = Store.options
        options.segmentByteCount = 1_000
        let store = Store()
        try store.open(options).close()
        let copy = store.killed
        for (seed, fork) in [store, copy].enumerated() {
            options.seed = UInt64(seed) + 7
            let log = try fork.open(options)
            for number in 0..<8 { try log.insert([row(number * (seed + 1))]) }
            try log.checkpoint()
            try log.insert([row(1_000)])
            try log.close()
        }
        return (store, copy)
    }

    @Test(arguments: [FileKind.hotSegment, .tableCheckpoint, .indexRun]) func takesNoFileOfAnother(
        kind: FileKind
    ) throws {
        let (store, copy) = try forks()
        let path = try #require(store.files(kind).last)
        #expect(copy.files(kind).last == path)
        try store.disk.replace(path, with: try copy.disk.contents(path))
        if kind == .hotSegment {
            #expect(store.openingCode() == .damaged)
            return
        }
        let log = try store.open()
        let name = try #require(path.split(separator: "/").last)
        #expect(Set(log.openReport.ignoredDerivedFiles) == [String(name)])
        for number in 0..<8 { #expect(try log.snapshot().firstID(row(number)) == UInt64(number + 1)) }
    }

    @Test func ignoresADerivedFileThatGrew() throws {
        let (store, _) = try forks()
        let path = try #require(store.files(.indexRun).last)
        try store.disk.overwrite(path, at: try store.disk.contents(path).count, [0])
        #expect(try store.open().openReport.ignoredDerivedFiles.count == 1)
    }
}
