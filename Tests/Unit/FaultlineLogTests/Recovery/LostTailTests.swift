import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Logs that lost their end, in stores that were not closed.
struct LostTailTests {
    /// A store that was not closed, of twelve transactions of one object each.
    ///
    /// The fourth and the ninth write a blob too.
    private func unclosedStore(_ options: LogOptions = Store.options) throws -> Store {
        let store = Store()
        let log = try store.open(options)
        for number in 1...12 {
            _ = try log.write(author: nil) { transaction in
                if number == 4 || number == 9 { try putBlob(&transaction) }
                _ = try transaction.insert(row(number))
            }
        }
        log.abandonForTests()
        return store.killed
    }

    private func putBlob(_ transaction: inout Transaction) throws {
        let bytes = [UInt8](repeating: 7, count: 5_000)
        _ = try bytes.withUnsafeBytes {
            try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 2, id: 1))
        }
    }

    private func refusal(_ store: Store, _ options: LogOptions = Store.options) -> LogError? {
        do {
            try store.open(options).abandonForTests()
            return nil
        } catch {
            return error as? LogError
        }
    }

    /// Cuts the last hot segment, on another disk.
    private func cut(_ store: Store, at length: Int) throws -> Store {
        let other = store.killed
        let path = try #require(other.files(.hotSegment).last)
        try other.disk.replace(path, with: Array(other.disk.contents(path)[..<length]))
        return other
    }

    private var accepting: LogOptions {
        var options = Store.options
        options.acceptsLostTail = true
        return options
    }

    @Test("A8: cut at every frame, a log is refused where a blob or a manifest names a later durable transaction")
    func everyFrame() throws {
        let store = try unclosedStore()
        let path = try #require(store.files(.hotSegment).last)
        let frames = LogBytes(try store.disk.contents(path)).frames
        #expect(frames.map(\.sequence) == Array(1...12))
        // The blob of transaction 9 was written when transaction 8 was durable. Only the log was written after it.
        let provable: UInt64 = 8
        var detected: [UInt64] = []
        var undetected: [UInt64] = []
        for frame in frames {
            // At the frame's beginning, within its head, and within its body.
            for length in [frame.offset, frame.offset + 20, frame.offset + frame.byteCount - 8] {
                let found = UInt64(frame.sequence) - 1
                let torn = try cut(store, at: length)
                guard found < provable else {
                    let log = try torn.open()
                    #expect(log.snapshot().sequence == found)
                    #expect(log.openReport.lostTail == nil)
                    log.abandonForTests()
                    if !undetected.contains(found) { undetected.append(found) }
                    continue
                }
                let before = torn.disk.filePaths.filter { !$0.hasSuffix("LOCK") }.map { torn.disk.bytes(of: $0) }
                let error = try #require(refusal(torn), "cut behind transaction \(found)")
                #expect(error.code == .damaged)
                #expect(error.path == path)
                #expect(error.offset == UInt64(frame.offset))
                #expect(error.missingTransactionCount == provable - found)
                #expect(error.message.contains("at least \(provable - found) more"))
                #expect(error.message.contains("faultline repair STORE --accept-loss"))
                let after = torn.disk.filePaths.filter { !$0.hasSuffix("LOCK") }.map { torn.disk.bytes(of: $0) }
                #expect(before == after)
                if !detected.contains(found) { detected.append(found) }
            }
        }
        // docs/Durability.md lists both.
        #expect(detected == Array(0...7))
        #expect(undetected == Array(8...11))
    }

    @Test("A8: an older copy of the newest segment is refused, and so is reading it")
    func olderCopy() throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1)])
        let path = try #require(store.files(.hotSegment).last)
        let old = try store.disk.contents(path)
        for number in 2...6 { try log.insert([row(number)]) }
        _ = try log.write(author: nil) { transaction in try putBlob(&transaction) }
        log.abandonForTests()
        let killed = store.killed
        try killed.disk.replace(path, with: old)
        #expect(refusal(killed)?.missingTransactionCount == 5)
        var options = Store.options
        options.access = .reading
        #expect(refusal(killed, options)?.missingTransactionCount == 5)
    }

    @Test("A8: an edit of the manifest alone proves a loss")
    func manifestAlone() throws {
        let store = try unclosedStore()
        for path in store.files(.blobSegment) {
            try store.disk.replace(path, with: Array(store.disk.contents(path)[..<64]))
        }
        let first = LogBytes(try store.disk.contents(try #require(store.files(.hotSegment).last))).frames[1]
        // The edit that lists the blob segment was written when transaction 3 was durable.
        #expect(refusal(try cut(store, at: first.offset))?.missingTransactionCount == 2)
    }

    @Test("A8: a loss that is accepted opens the store without the lost transactions, and is reported once")
    func acceptedLoss() throws {
        let store = try unclosedStore()
        let path = try #require(store.files(.hotSegment).last)
        let frames = LogBytes(try store.disk.contents(path)).frames
        for found in [0, 2, 5] {
            let torn = try cut(store, at: frames[found].offset)
            var reading = accepting
            reading.access = .reading
            let reader = try torn.open(reading)
            #expect(reader.openReport.lostTail?.count == UInt64(8 - found))
            try reader.close()
            #expect(refusal(torn)?.code == .damaged)

            let log = try torn.open(accepting)
            let tail = try #require(log.openReport.lostTail)
            #expect(tail.found == UInt64(found) && tail.count == UInt64(8 - found) && tail.wasDurable)
            #expect(tail.path == path && tail.offset == UInt64(frames[found].offset))
            #expect(tail.witness.sequence == 8 && torn.files(.blobSegment).contains(tail.witness.path))
            #expect(log.snapshot().sequence == UInt64(found))
            #expect(try log.findings().isEmpty)
            // Numbers are used again, and the lost ones are no longer missed.
            try log.insert([row(100)])
            log.abandonForTests()
            let again = try torn.killed.open()
            #expect(again.openReport.lostTail == nil && again.snapshot().sequence == UInt64(found) + 1)
            _ = try again.write(author: nil) { transaction in try putBlob(&transaction) }
            try again.close()
            #expect(try torn.killed.open().snapshot().sequence >= UInt64(found) + 1)
        }
    }

    @Test("A8: with .async a loss that no sync had covered is a notice with its count")
    func notice() throws {
        var options = Store.options
        options.durability = .async
        let store = Store()
        let log = try store.open(options)
        try log.insert([row(1)])
        try log.insert([row(2)])
        try log.waitUntilDurable()
        for number in 3...6 { try log.insert([row(number)]) }
        _ = try log.write(author: nil) { transaction in try putBlob(&transaction) }
        log.abandonForTests()
        let killed = store.killed
        let frames = LogBytes(try killed.disk.contents(try #require(killed.files(.hotSegment).last))).frames
        // Transactions 3 to 6 had been acknowledged when the blob was written, and 2 was durable.
        let torn = try cut(killed, at: frames[3].offset)
        let opened = try torn.open(options)
        let tail = try #require(opened.openReport.lostTail)
        #expect(tail.found == 3 && tail.count == 3 && !tail.wasDurable)
        #expect(!opened.openReport.wasClean)
        opened.abandonForTests()
        #expect(refusal(try cut(killed, at: frames[1].offset), options)?.missingTransactionCount == 1)
        // The same store with all of its log: no loss.
        #expect(try killed.open(options).openReport.lostTail == nil)
    }

    @Test("A8: a return to a kept state loses nothing that counts")
    func keptState() throws {
        let store = Store()
        var log = try store.open()
        try log.insert([row(1)])
        try log.keepState(for: 1_000_000)
        for number in 2...6 { try log.insert([row(number)]) }
        _ = try log.write(author: nil) { transaction in try putBlob(&transaction) }
        try log.insert([row(7)])
        try log.returnToKeptState()
        log = try store.open()
        #expect(log.snapshot().sequence == 1)
        try log.insert([row(8)])
        log.abandonForTests()
        let again = try store.killed.open()
        #expect(again.openReport.lostTail == nil && again.snapshot().sequence == 2)
    }

    @Test("A8: a blob that was given up hides no later blob from recovery")
    func givenUpBlob() throws {
        struct Abandonment: Error {}
        let store = Store()
        let log = try store.open()
        for number in 1...3 { try log.insert([row(number)]) }
        _ = try? log.write(author: nil) { transaction in
            var random = Seed(1)
            let noise = random.bytes(300_000)
            try noise.withUnsafeBytes { bytes in
                _ = try transaction.putBlob(bytes, owner: BlobOwner(table: testTable, slot: 2, id: 1))
            }
            throw Abandonment()
        }
        try log.insert([row(4)])
        _ = try log.write(author: nil) { transaction in try putBlob(&transaction) }
        log.abandonForTests()
        let killed = store.killed
        // The header of the abandoned blob is overwritten, as if it had never been written.
        let blobs = try #require(killed.files(.blobSegment).last)
        try killed.disk.overwrite(blobs, at: 64, [UInt8](repeating: 0, count: 48))
        let frames = LogBytes(try killed.disk.contents(try #require(killed.files(.hotSegment).last))).frames
        #expect(refusal(try cut(killed, at: frames[1].offset))?.missingTransactionCount == 3)
    }

    /// The last operation of a store of five objects and a blob, before its last hot segment is cut off.
    enum Ending: CaseIterable {
        case closed, checkpointed
    }

    @Test("A8: a segment that ends before its checkpoint, or in a closed store, is damage", arguments: Ending.allCases)
    func belowTheCheckpoint(_ ending: Ending) throws {
        let store = Store()
        let log = try store.open()
        for number in 1...5 { try log.insert([row(number)]) }
        _ = try log.write(author: nil) { try putBlob(&$0) }
        switch ending {
        case .closed: try log.close()
        case .checkpointed:
            try log.checkpoint()
            log.abandonForTests()
        }
        let path = try #require(store.killed.files(.hotSegment).last)
        let whole = try store.killed.disk.contents(path).count
        var refusalCount = 0
        for length in stride(from: 64, to: whole, by: 8) {
            let other = store.killed
            try other.disk.replace(path, with: Array(other.disk.contents(path)[..<length]))
            do {
                // Only prepared bytes are missing.
                let again = try other.open(accepting)
                #expect(again.snapshot().recordCount(of: testTable) == 5, "cut at \(length)")
                #expect(try again.findings().isEmpty, "cut at \(length)")
                try again.close()
            } catch let error as LogError {
                #expect(error.code == .damaged && error.path == path, "cut at \(length): \(error)")
                refusalCount += 1
            }
        }
        #expect(refusalCount > 20)
    }

    @Test("A8: large values of a store that was opened again name lost transactions, before the manifest has an edit")
    func afterACleanOpening() throws {
        let store = Store()
        var log = try store.open()
        try log.insert([row(1)])
        _ = try log.write(author: nil) { try putBlob(&$0) }
        try log.close()
        let path = try #require(store.files(.hotSegment).last)
        let closed = try store.disk.contents(path)
        log = try store.open()
        #expect(log.openReport.wasClean)
        for number in 2...6 { try log.insert([row(number)]) }
        _ = try log.write(author: nil) { try putBlob(&$0) }
        log.abandonForTests()
        let cut = store.killed
        try cut.disk.replace(path, with: closed)
        let error = try #require(refusal(cut))
        #expect(error.code == .damaged && error.path == path)
        #expect(error.missingTransactionCount == 5)
        // The loss is accepted once: frames of the lost transactions no longer count.
        let accepted = try cut.open(accepting)
        #expect(accepted.openReport.lostTail?.count == 5)
        for number in 7...8 { try accepted.insert([row(number)]) }
        _ = try accepted.write(author: nil) { try putBlob(&$0) }
        accepted.abandonForTests()
        let again = try cut.killed.open()
        #expect(again.openReport.lostTail == nil)
        #expect(again.snapshot().recordCount(of: testTable) == 3)
        try again.close()
    }
}
