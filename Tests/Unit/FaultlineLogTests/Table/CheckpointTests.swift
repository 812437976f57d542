import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

struct CheckpointTests {
    @Test func shortensTheReplayAndKeepsEverything() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((0..<2_000).map { row($0) })
        try log.checkpoint()
        let ids = try log.insert((2_000..<2_010).map { row($0) })
        let again = try store.killed.open()
        #expect(again.openReport.replayedTransactionCount == 1)
        #expect(again.snapshot().recordCount(of: testTable) == 2_010)
        #expect(try again.snapshot().firstID(row(2_005)) == ids[5])
        #expect(try again.snapshot().firstID(row(1_005)) == 1_006)
        #expect(try again.findings().isEmpty)
    }

    @Test func writesOnlyPagesThatChanged() throws {
        let store = Store()
        let log = try store.open()
        // Ten pages.
        try log.insert((0..<3_360).map { row($0) }, in: plainTable)
        try log.checkpoint()
        let first = try #require(store.files(.tableCheckpoint).last)
        _ = try log.write(author: nil) { try $0.put(5, row(9), in: plainTable) }
        try log.checkpoint()
        let second = try #require(store.files(.tableCheckpoint).last)
        #expect(first != second)
        #expect(try store.disk.contents(second).count == 4_096 * 2 + 10 * 16 + 64)
        #expect(store.disk.filePaths.contains(first))
        #expect(try store.killed.open().snapshot().row(5, in: plainTable) == row(9))
    }

    @Test func takesPagesOutOfFilesThatAreMostlyDead() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((0..<3_360).map { row($0) }, in: plainTable)
        try log.checkpoint()
        let first = try #require(store.files(.tableCheckpoint).last)
        // Six of ten pages.
        _ = try log.write(author: nil) {
            for page in 0..<6 { try $0.put(UInt64(page * 336 + 1), row(9), in: plainTable) }
        }
        try log.checkpoint()
        try log.insert([row(1)], in: plainTable)
        try log.checkpoint()
        #expect(!store.disk.filePaths.contains(first))
        #expect(try log.findings().isEmpty)
        #expect(try store.killed.open().findings().isEmpty)
    }

    @Test func keepsFewFilesHoweverManyCheckpointsAreMade() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((0..<33_600).map { row($0) }, in: plainTable)
        for round in 0..<60 {
            _ = try log.write(author: nil) { try $0.put(UInt64(round * 500 + 1), row(round), in: plainTable) }
            _ = try log.insert([row(round + 100_000)])
            try log.checkpoint()
        }
        #expect(store.files(.tableCheckpoint).count < 16)
        #expect(store.files(.indexRun).count < 13)
        #expect(try log.findings().isEmpty)
        let again = try store.killed.open()
        #expect(again.snapshot().recordCount(of: plainTable) == 33_600)
        #expect(again.snapshot().recordCount(of: testTable) == 60)
        #expect(try again.findings().isEmpty)
    }

    @Test func takesNoPageMapOrFooterOfAnotherFileForItsOwn() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((0..<3_360).map { row($0) }, in: plainTable)
        try log.checkpoint()
        let old = try store.disk.contents(try #require(store.files(.tableCheckpoint).last))
        _ = try log.write(author: nil) {
            for page in 0..<10 { try $0.put(UInt64(page * 336 + 1), row(9), in: plainTable) }
        }
        try log.checkpoint()
        try log.close()
        let path = try #require(store.files(.tableCheckpoint).last)
        let new = try store.disk.contents(path)
        // Both hold the same ten pages, at the same offsets; a write to one of them was lost.
        #expect(old.count == new.count)
        let mapOffset = 4_096 * 11
        let mixed = store.killed
        try mixed.disk.overwrite(path, at: 4_096 * 4, Array(old[4_096 * 4..<4_096 * 5]))
        #expect(try mixed.open().findings().contains { $0.kind == .damage && $0.path == path })
        for part in [mapOffset..<mapOffset + 160, mapOffset + 160..<new.count, mapOffset..<new.count] {
            let mixed = store.killed
            try mixed.disk.overwrite(path, at: part.lowerBound, Array(old[part]))
            let log = try mixed.open()
            #expect(!log.openReport.ignoredDerivedFiles.isEmpty)
            #expect(try log.snapshot().row(337, in: plainTable) == row(9))
        }
    }

    @Test func keepsNoPageWithoutAnObject() throws {
        // A queue: 200,000 objects are inserted and deleted, the newest three stay.
        var options = Store.options
        options.memoryBudget = 4 << 20
        let store = Store()
        let log = try store.open(options)
        let (count, batch) = (200_000, 5_000)
        let untouched = log.budget.used(for: .pages)
        for first in stride(from: 1, to: count, by: batch) {
            _ = try log.write(author: nil) { transaction in
                let ids = try transaction.allocateIDs(batch, in: plainTable)
                for id in ids..<ids + RecordID(batch) { try transaction.put(id, row(Int(id)), in: plainTable) }
            }
            if first % (batch * 8) == 1 { try log.checkpoint() }
            _ = try log.write(author: nil) { transaction in
                for id in RecordID(first)..<RecordID(first + batch) where id <= RecordID(count - 3) {
                    try transaction.delete(id, in: plainTable)
                }
            }
        }
        try log.checkpoint()
        #expect(try log.usage().pageCount == 1)
        #expect(log.budget.used(for: .pages) == untouched + 4_096)
        let path = try #require(store.files(.tableCheckpoint).last)
        let bytes = try store.disk.contents(path)
        // Header, one page, one entry, footer.
        #expect(bytes.count == 4_096 + 4_096 + 16 + 64)
        #expect(store.files(.tableCheckpoint) == [path])
        for log in [log, try store.killed.open(options)] {
            #expect(log.snapshot().recordCount(of: plainTable) == 3)
            #expect(try log.snapshot().row(RecordID(count - 1), in: plainTable) == row(count - 1))
            #expect(log.snapshot().nextID(of: plainTable) == RecordID(count + 1))
            #expect(try log.usage().pageCount == 1)
            #expect(try log.findings().isEmpty)
        }
        // The last three are deleted, and the identifiers still rise.
        _ = try log.write(author: nil) { for id in count - 2...count { try $0.delete(RecordID(id), in: plainTable) } }
        try log.close()
        let last = try store.open(options)
        #expect(last.openReport.wasClean)
        #expect(try last.usage().pageCount == 0)
        #expect(last.snapshot().nextID(of: plainTable) == RecordID(count + 1))
        #expect(try last.insert([row(1)], in: plainTable) == [RecordID(count + 1)])
        #expect(try last.findings().isEmpty)
    }

    @Test func goesBackToPagesThatAGivenUpTransactionEmptied() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((0..<1_000).map { row($0) }, in: plainTable)
        struct GivenUp: Error {}
        for isStored in [false, true] {
            if isStored { try log.checkpoint() }
            #expect(throws: GivenUp.self) {
                try log.write(author: nil) { transaction in
                    for id in RecordID(1)...1_000 { try transaction.delete(id, in: plainTable) }
                    try transaction.put(5, row(9), in: plainTable)
                    throw GivenUp()
                }
            }
            #expect(try log.usage().pageCount == 3)
            for id in 1...1_000 { #expect(try log.snapshot().row(RecordID(id), in: plainTable) == row(id - 1)) }
        }
        // Emptied and filled again in one transaction, page by page and back and forth.
        let before = log.snapshot()
        _ = try log.write(author: nil) { transaction in
            for id in RecordID(1)...1_000 { try transaction.delete(id, in: plainTable) }
            for id in stride(from: RecordID(1), through: 1_000, by: 300) {
                try transaction.put(id, row(Int(id)), in: plainTable)
            }
        }
        #expect(log.snapshot().recordCount(of: plainTable) == 4)
        #expect(before.recordCount(of: plainTable) == 1_000)
        #expect(try before.row(1_000, in: plainTable) == row(999))
        try log.checkpoint()
        #expect(try log.findings().isEmpty)
        #expect(try store.killed.open().findings().isEmpty)
    }

    @Test func doesNothingWhenThereIsNothingToDo() throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1)])
        try log.checkpoint()
        let before = store.disk.operationCount
        try log.checkpoint()
        #expect(store.disk.operationCount == before)
    }

    @Test func isMadeByItselfWhenEnoughWasWritten() throws {
        var options = Store.options
        options.maintenance = .inline
        options.checkpointByteCount = 10_000
        let store = Store()
        let log = try store.open(options)
        for number in 0..<100 { try log.insert([row(number, byteCount: 400)]) }
        #expect(store.disk.synchronizationCounts["checkpoint.content"] ?? 0 >= 4)
        #expect(try store.killed.open(options).openReport.replayedByteCount < 11_000)
    }

    @Test func survivesTheRotationOfTheManifest() throws {
        var options = Store.options
        options.manifestByteCount = 500
        options.manifestGrowth = 1
        let store = Store()
        let log = try store.open(options)
        for number in 0..<30 {
            try log.insert([row(number)])
            try log.checkpoint()
            #expect(store.files(.manifest).count == 1)
        }
        #expect(store.disk.synchronizationCounts["manifest.fresh"] ?? 0 > 5)
        #expect(try store.killed.open(options).snapshot().recordCount(of: testTable) == 30)
    }

    @Test func `keeps no page that was emptied just before a table was dropped`() throws {
        let store = Store()
        let log = try store.open()
        let ids = try log.insert([row(1), row(2)])
        _ = try log.insert([row(3)], in: plainTable)
        _ = try log.write(author: nil) { transaction in
            for id in ids { try transaction.erase(id) }
            try transaction.dropTable(plainTable)
        }
        try log.close()
        let report = try store.open().openReport
        #expect(report.wasClean && report.ignoredDerivedFiles.isEmpty)
    }

    @Test func dropsAnIndexWithItsFiles() throws {
        let store = Store()
        let log = try store.open()
        let index = IndexDefinition(id: IndexID(rawValue: 77), isUnique: false, searchPrefix: .wholeKey)
        _ = try log.write(author: nil) { transaction in
            for id in UInt64(1)...100 {
                try row(Int(id)).withUnsafeBytes { try transaction.insertEntry(index, key: $0, id: id) }
            }
            _ = try transaction.insert(row(1))
        }
        try log.checkpoint()
        #expect(log.indexIDs == [WholeRowDeriver.index.id, index.id])
        #expect(store.files(.indexRun).count == 2)
        var before: Snapshot? = log.snapshot()
        try log.dropIndex(index.id)
        try log.checkpoint()
        #expect(log.indexIDs == [WholeRowDeriver.index.id])
        #expect(try row(5).withUnsafeBytes { try before?.firstID(in: index, key: $0) } == 5)
        #expect(try row(5).withUnsafeBytes { try log.snapshot().firstID(in: index, key: $0) } == nil)
        let again = try store.killed.open()
        #expect(again.indexIDs == [WholeRowDeriver.index.id])
        #expect(store.killed.files(.indexRun).count <= 2)
        before = nil
        #expect(try log.findings().isEmpty)
        #expect(store.files(.indexRun).count == 1)
    }

    @Test func `drops an index of a table that was gone when the store was opened`() throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1), row(2)])
        try log.checkpoint()
        _ = try log.write(author: nil) { try $0.dropTable(testTable) }
        try log.close()

        let again = try store.open()
        #expect(again.indexIDs == [WholeRowDeriver.index.id] && store.files(.indexRun).count == 1)
        try again.dropIndex(WholeRowDeriver.index.id)
        try again.checkpoint()
        #expect(again.indexIDs.isEmpty && store.files(.indexRun).isEmpty)
        #expect(try again.findings().isEmpty)
    }
}
