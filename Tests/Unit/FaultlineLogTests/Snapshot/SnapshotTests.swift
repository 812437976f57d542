import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct SnapshotTests {
    @Test func doesNotChangeWhateverIsWrittenAfter() throws {
        var options = Store.options
        options.memoryBudget = 300_000
        options.segmentByteCount = 50_000
        let log = try Store().open(options)
        let ids = try log.insert((0..<3_000).map { row($0) })
        let snapshot = log.snapshot()
        for round in 1..<4 {
            _ = try log.write(author: nil) { transaction in
                for number in stride(from: 0, to: 3_000, by: 7) {
                    try transaction.put(ids[number], row(round * 10_000 + number))
                }
                if round == 2 { for number in stride(from: 1, to: 3_000, by: 7) { try transaction.erase(ids[number]) } }
            }
            try log.checkpoint()
        }
        #expect(snapshot.sequence == 1)
        #expect(snapshot.recordCount(of: testTable) == 3_000)
        for (number, id) in ids.enumerated() {
            #expect(try snapshot.row(id) == row(number))
            #expect(try snapshot.firstID(row(number)) == id)
        }
        #expect(try snapshot.firstID(row(10_000)) == nil)
        #expect(try log.snapshot().row(ids[7]) == row(30_007))
        #expect(try log.findings().isEmpty)
    }

    @Test(
        "A3: nothing is read behind the last identifier that there may be",
        arguments: [0, 4, Limits.recordIDMax, Limits.recordIDMax + 1, 1 << 48, 1 << 63, UInt64.max])
    func readsFromAnyIdentifier(id: RecordID) throws {
        let log = try Store().open()
        _ = try log.insert((0..<3).map { row($0) })
        let snapshot = log.snapshot()
        let expected = id == 0 ? 3 : 0
        #expect(try snapshot.location(of: id, in: testTable).isAbsent)
        var count = 0
        try snapshot.scan(testTable, from: id, through: .max, readAhead: 4_096) {
            count += $0.count; return true
        }
        #expect(count == expected)
        count = 0
        try snapshot.forEachPage(of: testTable, from: id) { _, _ in
            count += 1; return true
        }
        #expect(count == (id <= 336 ? 1 : 0))
        try snapshot.scanPastDamage(testTable, from: id, readAhead: 4_096, unreadable: { _ in count = -1 }) { _ in true
        }
        #expect(count >= 0)
    }

    @Test func takesNoRecordOfAnotherFileOrPlaceForTheNewest() throws {
        for segmentByteCount in [100, 100_000] {
            var options = Store.options
            options.segmentByteCount = segmentByteCount
            let store = Store()
            let log = try store.open(options)
            var places: [Location] = []
            for version in 0..<2 {
                _ = try log.write(author: nil) { try $0.put(1, row(version), in: plainTable) }
                places.append(try log.snapshot().location(of: 1, in: plainTable))
            }
            // At the same offset of two segments, or at two offsets of one.
            #expect((places[0].offset == places[1].offset) == (segmentByteCount == 100))
            let byteCount = try #require(places[0].byteCount)
            let files = store.files(.hotSegment)
            let start = Int(places[0].byteOffset)
            let old = try store.disk.contents(files[0])[start..<start + byteCount]
            #expect(try log.snapshot().row(1, in: plainTable) == row(1))
            try store.disk.overwrite(try #require(files.last), at: Int(places[1].byteOffset), Array(old))
            let error = #expect(throws: LogError.self) { try log.snapshot().row(1, in: plainTable) }
            #expect(error?.code == .damaged)
            #expect(throws: LogError.self) {
                try log.snapshot().scan(plainTable, from: 1, through: 1, readAhead: 4_096) { _ in true }
            }
        }
    }

    @Test func keepsFilesThatItNeeds() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((0..<3_000).map { row($0) })
        try log.checkpoint()
        var snapshot: Snapshot? = log.snapshot()
        let first = store.files(.tableCheckpoint) + store.files(.indexRun)
        _ = try log.write(author: nil) { for id in UInt64(1)...3_000 { try $0.put(id, row(Int(id) + 50_000)) } }
        try log.checkpoint()
        for path in first { #expect(store.disk.filePaths.contains(path)) }
        #expect(try snapshot?.firstID(row(17)) == 18)
        snapshot = nil
        try log.insert([row(99_999)])
        try log.checkpoint()
        for path in first.filter({ $0.contains("/t-") }) { #expect(!store.disk.filePaths.contains(path)) }
        #expect(try log.findings().isEmpty)
    }

    @Test(arguments: [1, 7, 300, 5_000], [4_096, 131_072]) func scansInOrderWhateverTheOrderInTheLog(
        step: Int, readAhead: Int
    ) throws {
        var options = Store.options
        options.segmentByteCount = 30_000
        let log = try Store().open(options)
        let ids = try log.insert((0..<2_000).map { row($0, byteCount: 20 + $0 % 90) }, in: plainTable)
        for start in stride(from: 0, to: step, by: max(1, step / 3)) {
            _ = try log.write(author: nil) { transaction in
                for number in stride(from: start, to: 2_000, by: step) {
                    try transaction.put(
                        ids[number], row(number, byteCount: number % 400 == 0 ? 9_000 : 33), in: plainTable)
                }
                if start == 0 { try transaction.delete(ids[3], in: plainTable) }
            }
        }
        var found: [RecordID] = []
        try log.snapshot().scan(plainTable, from: ids[1], through: ids[1_990], readAhead: readAhead) { views in
            #expect(views.count <= 256)
            for view in views {
                found.append(view.id)
                #expect(view.row.prefix(8).elementsEqual(row(Int(view.id) - 1).prefix(8)))
            }
            return true
        }
        #expect(found == ids[1...1_990].filter { $0 != ids[3] })
        var count = 0
        try log.snapshot().scan(plainTable, from: 1, through: UInt64.max >> 16, readAhead: readAhead) { views in
            count += views.count
            return count < 500
        }
        #expect(count >= 500 && count < 800)
    }

    @Test func listsPagesFromAnyObjectOn() throws {
        let log = try Store().open()
        try log.insert((0..<1_000).map { row($0) }, in: plainTable)
        var firsts: [RecordID] = []
        try log.snapshot().forEachPage(of: plainTable, from: 400) { first, entries in
            firsts.append(first)
            #expect(!Location(reading: entries).isAbsent)
            return true
        }
        #expect(firsts == [337, 673])
    }

    @Test func readsIntoMemoryOfTheCaller() throws {
        let log = try Store().open()
        let id = try log.insert([row(5, byteCount: 100)])[0]
        let snapshot = log.snapshot()
        let location = try snapshot.location(of: id, in: testTable)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 200, alignment: 16)
        defer { memory.deallocate() }
        guard
            case .needsCapacity(let wanted) = try snapshot.read(
                id, in: testTable, at: location, into: UnsafeMutableRawBufferPointer(rebasing: memory[0..<64]))
        else {
            Issue.record("a record was read into too little memory")
            return
        }
        #expect(wanted == 128)
        guard case .record(let view, let used) = try snapshot.read(id, in: testTable, at: location, into: memory) else {
            Issue.record("a record does not fit into more memory than it needs")
            return
        }
        #expect(used == 128)
        #expect(Array(view.row) == row(5, byteCount: 100))
        // Another object's record is not returned.
        #expect(throws: LogError.self) { try snapshot.read(id + 1, in: testTable, at: location, into: memory) }
        #expect(throws: LogError.self) { try snapshot.read(id, in: plainTable, at: location, into: memory) }
    }

    @Test func findsEntriesOfAPrefixInOrder() throws {
        let log = try Store().open()
        let index = IndexDefinition(id: IndexID(rawValue: 9), isUnique: false, searchPrefix: .bytes(1))
        for round in 0..<6 {
            _ = try log.write(author: nil) { transaction in
                for number in 0..<40 {
                    let key = [UInt8(number % 3), UInt8(number), UInt8(round)]
                    try key.withUnsafeBytes {
                        try transaction.insertEntry(index, key: $0, id: UInt64(round * 100 + number + 1))
                    }
                    if number % 5 == 0, round > 0 {
                        let old = [UInt8(number % 3), UInt8(number), UInt8(round - 1)]
                        try old.withUnsafeBytes {
                            try transaction.removeEntry(index, key: $0, id: UInt64((round - 1) * 100 + number + 1))
                        }
                    }
                }
                _ = try transaction.insert(row(round), in: plainTable)
            }
            if round % 2 == 1 { try log.checkpoint() }
        }
        var keys: [[UInt8]] = []
        try [UInt8(1)].withUnsafeBytes { prefix in
            try log.snapshot().forEachEntry(in: index, prefix: prefix) { key, _ in
                keys.append(Array(key))
                return true
            }
        }
        var expected: [[UInt8]] = []
        for number in 0..<40 where number % 3 == 1 {
            for round in 0..<6 where number % 5 != 0 || round == 5 {
                expected.append([1, UInt8(number), UInt8(round)])
            }
        }
        #expect(keys == expected)
    }
}
