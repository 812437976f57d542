import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// A manifest that was being written when the process ended, beside its predecessor.
struct TornManifestTests {
    /// A store that was killed, and the files that its next opening writes.
    private func store() throws -> (store: Store, fresh: (path: String, bytes: [UInt8]), rescued: [String: [UInt8]]) {
        let first = Store()
        let log = try first.open()
        try log.insert([row(1)])
        try log.checkpoint()
        try log.insert([row(2)])
        log.abandonForTests()
        let store = first.killed
        try store.tear()
        let next = store.killed
        try next.open().abandonForTests()
        let path = try #require(next.files(.manifest).last)
        var rescued: [String: [UInt8]] = [:]
        for path in next.files(.hotSegment) where store.disk.bytes(of: path) == nil {
            rescued[path] = try next.disk.contents(path)
        }
        #expect(rescued.count == 1 && !store.files(.manifest).contains(path))
        return (store, (path, try next.disk.contents(path)), rescued)
    }

    private func open(
        _ bytes: [UInt8]
    ) throws -> (store: Store, fresh: String, report: OpenReport, rescued: [String], found: Log) {
        let (store, fresh, rescued) = try store()
        try store.disk.place(bytes, at: fresh.path)
        for (path, bytes) in rescued { try store.disk.place(bytes, at: path) }
        let log = try store.open()
        for number in 1...2 { #expect(try log.snapshot().row(UInt64(number)) == row(number)) }
        #expect(!log.openReport.wasClean)
        return (store, fresh.path, log.openReport, rescued.keys.sorted(), log)
    }

    private func name(_ path: String) -> String { String(path.dropFirst(Store.path.count + 1)) }

    @Test func `leaves nothing behind, wherever its writing ended`() throws {
        let whole = try store().fresh.bytes
        for byteCount in stride(from: 65, to: whole.count, by: TestSize.of(1, unoptimized: 5)) {
            let (store, fresh, report, rescued, log) = try open(Array(whole[..<byteCount]))
            #expect(report.quarantinedFiles.isEmpty, "\(byteCount) bytes")
            #expect(report.removedFiles.contains(name(fresh)), "\(byteCount) bytes")
            #expect(rescued.allSatisfy { report.removedFiles.contains(name($0)) }, "\(byteCount) bytes")
            #expect(!store.disk.filePaths.contains { $0.contains("quarantine") || rescued.contains($0) })
            try log.close()
            #expect(try store.open().openReport.wasClean)
        }
    }

    @Test func `a damaged manifest of full length is kept, with all files that only it may list`() throws {
        let whole = try store().fresh.bytes
        var spoiled: [[UInt8]] = []
        // A bit anywhere in it; its end as zeros; all of it as zeros; a truncated end of another kind.
        for place in stride(from: 64, to: whole.count, by: 7) {
            var bytes = whole
            bytes[place] ^= 4
            spoiled.append(bytes)
        }
        for place in stride(from: 64, to: whole.count, by: 64) {
            spoiled.append(whole[..<place] + [UInt8](repeating: 0, count: whole.count - place))
        }
        var header = whole
        header[20] ^= 1
        spoiled += [header, Array(header.dropLast(9))]
        var head = whole
        head[64] ^= 1
        spoiled.append(Array(head.dropLast(9)))
        for (number, bytes) in spoiled.enumerated() {
            let (store, fresh, report, rescued, log) = try open(bytes)
            #expect(Set(report.quarantinedFiles) == Set(([fresh] + rescued).map(name)), "\(number)")
            let byteCount = ([fresh] + rescued).reduce(0) { sum, path in
                sum + (store.disk.bytes(of: Store.path + "/quarantine/" + name(path))?.count ?? 0)
            }
            #expect(byteCount > bytes.count && report.quarantinedByteCount == UInt64(byteCount), "\(number)")
            let usage = try log.usage()
            #expect(usage.quarantinedFileCount == 2 && usage.quarantinedByteCount == UInt64(byteCount), "\(number)")
            log.abandonForTests()
        }
    }

    @Test func `one that an interrupted recovery left is gone after the next, which is in force`() throws {
        let (store, fresh, _) = try store()
        try store.disk.place(Array(fresh.bytes.dropLast(9)), at: fresh.path)
        // The next one is written, and the process ends before it removes anything.
        let disk = FailingDisk(over: store.disk)
        disk.arm(DiskFault(of: [.remove], isSticky: true))
        #expect(store.openingCode(on: disk) != nil)
        #expect(store.files(.manifest).count == 3)
        let again = store.killed
        let log = try again.open()
        #expect(log.openReport.quarantinedFiles.isEmpty && again.files(.manifest).count == 1)
        for number in 1...2 { #expect(try log.snapshot().row(UInt64(number)) == row(number)) }
        try log.close()
    }
}
