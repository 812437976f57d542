import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

struct SalvageTests {
    /// Six transactions of objects, one of a catalog entry, one of blobs; closed.
    func filledStore(_ options: LogOptions = Store.options) throws -> Store {
        let store = Store()
        let log = try store.open(options)
        _ = try log.write(author: nil) { try $0.put(1, row(1_000), in: .catalog) }
        for number in 0..<6 { try log.insert((0..<40).map { row(number * 40 + $0) }) }
        _ = try log.write(author: nil) { transaction in
            for number in 0..<3 {
                _ = try blobBytes(number).withUnsafeBytes {
                    try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 2, id: UInt64(number) + 1))
                }
            }
        }
        _ = try log.write(author: nil) { transaction in
            try transaction.put(5, row(5_000))
            try transaction.erase(7)
        }
        try log.close()
        return store
    }

    private func blobBytes(_ number: Int) -> [UInt8] {
        var random = Seed(UInt64(number))
        return random.bytes(100_000)
    }

    /// Checks the content of `filledStore`, except for some objects of table 16 and some blobs.
    func check(
        _ salvaged: SalvagedStore, without missing: Set<RecordID> = [], blobs missingBlobs: Set<RecordID> = []
    ) throws {
        let log = try salvaged.open()
        let snapshot = log.snapshot()
        #expect(try snapshot.row(1, in: .catalog) == row(1_000))
        for id in UInt64(1)...240 {
            let expected = id == 7 || missing.contains(id) ? nil : id == 5 ? row(5_000) : row(Int(id) - 1)
            #expect(try snapshot.row(id) == expected, "object \(id)")
            if let expected { #expect(try snapshot.firstID(expected) == id) }
        }
        for id in UInt64(1)...3 where !missingBlobs.contains(id) {
            #expect(try snapshot.blob(id) == blobBytes(Int(id) - 1))
        }
        #expect(snapshot.recordCount(of: .blobs) == 3 - missingBlobs.count)
        try log.close()
    }

    @Test func copiesASoundStoreAndLosesNothing() throws {
        let salvaged = try SalvagedStore(filledStore())
        #expect(!salvaged.report.hasLoss)
        #expect(salvaged.findings.isEmpty)
        #expect(salvaged.report.recordCounts == [.catalog: 1, .blobs: 3, testTable: 239])
        #expect(salvaged.report.blobByteCount == 300_000)
        try check(salvaged)
        #expect(try salvaged.disk.names(in: "/d") == ["new", "store"])
    }

    @Test func needsNeitherManifestNorIdentity() throws {
        var options = Store.options
        options.segmentByteCount = 2_000
        let store = try filledStore(options)
        for path in store.files(.manifest) { try store.disk.remove(path) }
        try store.disk.remove(Store.path + "/IDENTITY")
        let salvaged = try SalvagedStore(store)
        #expect(!salvaged.report.hasLoss)
        #expect(salvaged.findings.count == 2)
        try check(salvaged)
    }

    @Test func readsASegmentWhoseHeaderRottedByWhatTheManifestSays() throws {
        let store = try filledStore()
        for path in store.files(.hotSegment) + store.files(.blobSegment) {
            try store.disk.overwrite(path, at: 0, [UInt8](repeating: 0, count: 64))
        }
        let salvaged = try SalvagedStore(store)
        #expect(!salvaged.report.hasLoss)
        try check(salvaged)
        for path in store.files(.manifest) { try store.disk.remove(path) }
        try store.disk.remove(Store.path + "/IDENTITY")
        let other = Store(store.disk.afterProcessDeath())
        try removeNew(other.disk)
        let lost = try SalvagedStore(other)
        #expect(lost.report.lostRangeCount == 2 && lost.report.recordCounts.isEmpty)
    }

    private func removeNew(_ disk: SimulatedDisk) throws {
        for name in try disk.names(in: SalvagedStore.path) { try disk.remove(SalvagedStore.path + "/" + name) }
        try disk.removeDirectory(SalvagedStore.path)
    }

    @Test func readsSegmentsWhoseFirstSectorsChangedPlaces() throws {
        var options = Store.options
        options.segmentByteCount = 2_000
        let store = try filledStore(options)
        let paths = store.files(.hotSegment)
        let heads = try [paths[0], paths[2]].map { Array(try store.disk.contents($0)[..<64]) }
        try store.disk.overwrite(paths[0], at: 0, heads[1])
        try store.disk.overwrite(paths[2], at: 0, heads[0])
        let salvaged = try SalvagedStore(store)
        #expect(!salvaged.report.hasLoss && salvaged.findings.count == 2)
        try check(salvaged)
    }

    @Test func givesNoIdentifierAgainThatALostRecordMayHaveHad() throws {
        let store = try filledStore()
        let path = try #require(store.files(.hotSegment).first)
        let log = LogBytes(try store.disk.contents(path))
        let newest = try #require(log.records.first { $0.table == 16 && $0.id == 240 })
        for frame in log.frames where frame.sequence == newest.sequence {
            try store.disk.overwrite(path, at: frame.offset, [UInt8](repeating: 0, count: frame.byteCount))
        }
        for path in store.files(.manifest) { try store.disk.remove(path) }
        let new = try SalvagedStore(store).open()
        #expect(new.snapshot().recordCount(of: testTable) == 199)
        #expect(new.snapshot().nextID(of: testTable) > 240)
        try new.close()
    }

    @Test func namesTheObjectWhoseRowRotted() throws {
        let store = try filledStore()
        let path = try #require(store.files(.hotSegment).first)
        let log = LogBytes(try store.disk.contents(path))
        // Object 9 has one version, object 5 an older one.
        let only = try #require(log.records.first { $0.table == 16 && $0.id == 9 })
        let newest = try #require(log.records.last { $0.table == 16 && $0.id == 5 })
        for record in [only, newest] { store.disk.flip(bit: (record.offset + 30) * 8, of: path) }
        let salvaged = try SalvagedStore(store)
        let ranges = salvaged.findings.compactMap { if case .lostRange(let range) = $0 { range } else { nil } }
        #expect(ranges.map { Int($0.offset) } == [only, newest].map(\.offset) && ranges.allSatisfy { $0.path == path })
        #expect(ranges.map { Int($0.byteCount) } == [only, newest].map(\.byteCount))
        #expect(salvaged.findings.count == 4)
        #expect(salvaged.findings.contains(.lostObject(table: testTable, id: 9)))
        #expect(salvaged.findings.contains(.olderVersion(table: testTable, id: 5)))
        #expect(salvaged.report.lostTransactions.isEmpty)
        #expect(salvaged.report.possiblyOldCounts == [testTable: 1])
        let new = try salvaged.open()
        #expect(try new.snapshot().row(5) == row(4))
        #expect(try new.snapshot().row(9) == nil)
        // No other object gets the number, to which references may exist.
        #expect(new.snapshot().nextID(of: testTable) > 240)
        try new.close()
    }

    @Test func endsAnObjectWhoseDeleteRottedBehindItsHeader() throws {
        let store = try filledStore()
        let path = try #require(store.files(.hotSegment).first)
        let records = LogBytes(try store.disk.contents(path)).records
        let delete = try #require(records.first { $0.operation == 2 && $0.table == 16 })
        store.disk.flip(bit: (delete.offset + 30) * 8, of: path)
        let salvaged = try SalvagedStore(store)
        #expect(salvaged.report.lostRangeCount == 1 && salvaged.report.possiblyOldCounts.isEmpty)
        try check(salvaged)
    }

    @Test func readsFramesWithoutTheirHeads() throws {
        let store = try filledStore()
        let path = try #require(store.files(.hotSegment).first)
        for frame in LogBytes(try store.disk.contents(path)).frames { store.disk.flip(bit: frame.offset * 8, of: path) }
        let salvaged = try SalvagedStore(store)
        #expect(salvaged.report.lostTransactions.isEmpty)
        #expect(salvaged.report.lostRangeCount > 0)
        try check(salvaged)
    }

    @Test func knowsATransactionByItsLastHeadWhereItsRecordRotted() throws {
        var options = Store.options
        options.frameByteCount = 500
        let store = try filledStore(options)
        let path = try #require(store.files(.hotSegment).first)
        let records = LogBytes(try store.disk.contents(path)).records.filter { $0.operation == 4 }
        #expect(records.count == 9)
        for record in records { store.disk.flip(bit: (record.offset + 40) * 8, of: path) }
        let salvaged = try SalvagedStore(store)
        #expect(salvaged.report.lostTransactions.isEmpty)
        #expect(salvaged.report.lostRangeCount == 9)
        try check(salvaged)
    }

    @Test func leavesOutWhatNeverEnded() throws {
        struct GivenUp: Error {}
        var options = Store.options
        options.frameByteCount = 500
        let store = Store()
        let log = try store.open(options)
        for number in 0..<4 {
            #expect(throws: GivenUp.self) {
                try log.write(author: nil) { transaction in
                    for count in 0..<60 { _ = try transaction.insert(row(10_000 + number * 100 + count)) }
                    throw GivenUp()
                }
            }
            try log.insert((0..<30).map { row(number * 30 + $0) })
        }
        try log.close()
        let salvaged = try SalvagedStore(store)
        #expect(!salvaged.report.hasLoss)
        #expect(salvaged.report.unfinishedRecordCount > 100)
        let new = try salvaged.open()
        #expect(new.snapshot().recordCount(of: testTable) == 120)
        for number in 0..<120 { #expect(try new.snapshot().row(UInt64(number) + 1) == row(number)) }
        try new.close()
    }

    @Test func takesNothingOlderFromACopyThatAnInterruptedRecoveryLeft() throws {
        var options = Store.options
        options.durability = .async
        let store = Store()
        let log = try store.open(options)
        try log.insert([row(1)])
        try log.checkpoint()
        for number in 2...4 { _ = try log.write(author: nil) { try $0.put(1, row(number)) } }
        log.abandonForTests()
        let killed = store.killed
        try killed.tear()
        let whole = Store(killed.disk.afterProcessDeath())
        try whole.open(options).close()
        let path = try #require(whole.files(.hotSegment).last)
        #expect(whole.files(.hotSegment).count == 2)
        let bytes = try whole.disk.contents(path)
        let first = try #require(LogBytes(bytes).frames.first)
        try killed.disk.replace(path, with: Array(bytes[..<(first.offset + first.byteCount)]))
        for isManifestThere in [true, false] {
            let damaged = Store(killed.disk.afterProcessDeath())
            for path in damaged.files(.manifest) where !isManifestThere { try damaged.disk.remove(path) }
            let new = try SalvagedStore(damaged).open()
            #expect(try new.snapshot().row(1) == row(4))
            try new.close()
        }
    }

    @Test func leavesOutWhatRecoveryFoundBehindATornFrame() throws {
        var options = Store.options
        options.durability = .async
        let store = Store()
        let log = try store.open(options)
        try log.insert([row(1)])
        try log.checkpoint()
        try log.insert([row(2)])
        try log.insert([row(3), row(4), row(5)])
        log.abandonForTests()
        let killed = store.killed
        let path = try #require(killed.files(.hotSegment).first)
        let torn = try #require(LogBytes(try killed.disk.contents(path)).records.first { $0.id == 2 })
        killed.disk.flip(bit: (torn.offset + 30) * 8, of: path)
        let again = try killed.open(options)
        #expect(again.snapshot().sequence == 1)
        for number in 12...14 { try again.insert([row(number)]) }
        try again.close()

        // Only the manifest has the old segment's end; the new one's beginning is known by its frames.
        for path in killed.files(.manifest) { try killed.disk.remove(path) }
        let new = try SalvagedStore(killed).open()
        #expect(new.snapshot().recordCount(of: testTable) == 4)
        for (id, number) in [1: 1, 2: 12, 3: 13, 4: 14] { #expect(try new.snapshot().row(RecordID(id)) == row(number)) }
        try new.close()
    }

    @Test func leavesABlobOutOfWhichAChunkRotted() throws {
        let store = try filledStore()
        let path = try #require(store.files(.blobSegment).first)
        // In the second blob.
        store.disk.flip(bit: 150_000 * 8, of: path)
        let salvaged = try SalvagedStore(store)
        #expect(salvaged.report.lostBlobCount == 1 && salvaged.report.hasLoss)
        guard case .lostBlob(let blob)? = salvaged.findings.first else {
            Issue.record("\(salvaged.findings)")
            return
        }
        #expect(blob.id == 2 && blob.byteCount == 100_000 && blob.path == path)
        #expect(blob.owner == BlobOwner(table: testTable, slot: 2, id: 2))
        try check(salvaged, blobs: [2])
    }

    @Test func reportsTheTransactionsOfASegmentThatIsMissing() throws {
        var options = Store.options
        options.segmentByteCount = 4_000
        let store = try filledStore(options)
        let segments = store.files(.hotSegment)
        #expect(segments.count > 2)
        let path = segments[1]
        let lost = Set(LogBytes(try store.disk.contents(path)).records.filter { $0.operation == 4 }.map(\.sequence))
        try store.disk.remove(path)
        let salvaged = try SalvagedStore(store)
        #expect(salvaged.report.lostRangeCount == 1)
        #expect(Set(salvaged.report.lostTransactions.flatMap { Array($0) }) == lost)
        // If no manifest has it, the sequence numbers show it.
        for path in store.files(.manifest) { try store.disk.remove(path) }
        let other = Store(store.disk.afterProcessDeath())
        try removeNew(other.disk)
        let again = try SalvagedStore(other)
        #expect(again.report.lostTransactions == salvaged.report.lostTransactions)
        #expect(again.report.possiblyOldCounts[testTable] ?? 0 > 0)
    }

    @Test func goesOnWithoutAFileThatCannotBeOpened() throws {
        let store = try filledStore()
        let path = try #require(store.files(.blobSegment).first)
        try store.disk.remove(path)
        try store.disk.createDirectory(path)
        let salvaged = try SalvagedStore(store)
        #expect(salvaged.report.lostRangeCount == 1 && salvaged.report.lostBlobCount == 3)
        try check(salvaged, blobs: [1, 2, 3])
    }

    @Test func looksAtNothingBehindTheEndOfASealedSegment() throws {
        var options = Store.options
        options.segmentByteCount = 2_000
        let store = try filledStore(options)
        for path in store.files(.hotSegment).dropLast() {
            let bytes = try store.disk.contents(path)
            try store.disk.replace(path, with: bytes + [UInt8](repeating: 7, count: 1_000))
        }
        let salvaged = try SalvagedStore(store)
        #expect(!salvaged.report.hasLoss && salvaged.findings.isEmpty)
        try check(salvaged)
    }

    @Test func refusesAStoreThatIsBeingWrittenAndADestinationThatIsNotEmpty() throws {
        let store = try filledStore()
        let log = try store.open()
        #expect(throws: LogError.self) { _ = try SalvageSource.open(Store.path, on: store.disk) }
        try log.close()
        let salvage = Salvage(
            to: "/d/store/new/", on: store.disk, clock: .system, options: Store.options, deriver: NoIndexes())
        #expect(throws: LogError.self) { try salvage.checkDestination(outside: Store.path) }
        let full = Salvage(to: "/d", on: store.disk, clock: .system, options: Store.options, deriver: NoIndexes())
        #expect(throws: LogError.self) { try full.checkDestination(outside: Store.path) }
        #expect(throws: LogError.self) { _ = try SalvageSource.open("/d", on: store.disk) }
        #expect(throws: LogError.self) { _ = try SalvageSource.open("/d/nothing", on: store.disk) }
    }
}
