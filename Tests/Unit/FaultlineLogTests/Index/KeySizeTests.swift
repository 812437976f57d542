import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

struct KeySizeTests {
    private static let longest = IndexDefinition.keyByteCountMax

    @Test func refusesKeysThatAreTooLongAndGoesOn() throws {
        let store = Store()
        let log = try store.open()
        let id = try log.insert([row(1)])[0]
        _ = try log.write(author: nil) { transaction in
            let first = try transaction.insert(row(2))
            for isInsert in [true, false] {
                do {
                    try row(3, byteCount: Self.longest + 1).withUnsafeBytes {
                        if isInsert {
                            try transaction.insertEntry(WholeRowDeriver.index, key: $0, id: first)
                        } else {
                            try transaction.removeEntry(WholeRowDeriver.index, key: $0, id: first)
                        }
                    }
                    Issue.record("a key of 32,001 bytes was taken")
                } catch let error as LogError {
                    #expect(error.code == .tooLarge)
                    for word in ["index 1 ", "32001", "32000", "Shorten"] { #expect(error.message.contains(word)) }
                }
            }
            // No object has such a key, and looking it up is no error.
            #expect(try transaction.firstID(row(3, byteCount: Self.longest + 1)) == nil)
            #expect(try transaction.firstID(row(2)) == first)
            try transaction.put(first, row(4))
        }
        #expect(try log.snapshot().firstID(row(4)) == id + 1)
        #expect(try log.snapshot().firstID(row(2)) == nil)
        #expect(try log.snapshot().firstID(row(3, byteCount: Self.longest + 1)) == nil)
        #expect(try log.findings().isEmpty)
        #expect(try store.killed.open().findings().isEmpty)
    }

    @Test func canBeGivenUpAfterAKeyThatIsTooLong() throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1)])
        let refused = code {
            _ = try log.write(author: nil) { transaction in
                try transaction.put(1, row(2))
                _ = try transaction.insert(row(3, byteCount: 32_001))
            }
        }
        #expect(refused == .tooLarge)
        #expect(try log.snapshot().firstID(row(1)) == 1)
        #expect(try log.snapshot().firstID(row(2)) == nil)
        #expect(log.snapshot().recordCount(of: testTable) == 1)
        try log.insert([row(2)])
        #expect(try log.findings().isEmpty)
        #expect(try store.killed.open().findings().isEmpty)
    }

    /// From memtable to run to merged run and back.
    @Test func keepsTheLongestKeys() throws {
        let store = Store()
        let log = try store.open()
        var keys: [[UInt8]] = []
        for part in 0..<5 {
            // Some differ at their beginning, some at their end.
            let fresh = (0..<4).map { number -> [UInt8] in
                var key = [UInt8](repeating: 7, count: Self.longest)
                key[number % 2 == 0 ? 0 : Self.longest - 1] = UInt8(part * 4 + number + 10)
                return key
            }
            try log.insert(fresh)
            keys += fresh
            try log.checkpoint()
        }
        let again = try store.killed.open()
        for (number, key) in keys.enumerated() {
            #expect(try log.snapshot().firstID(key) == UInt64(number + 1))
            #expect(try again.snapshot().firstID(key) == UInt64(number + 1))
        }
        #expect(try again.findings().isEmpty)
    }

    /// A record with a key that is refused to writers, and was stored all the same.
    @Test func opensAStoreWhoseLogHasSuchAKeyAndTells() throws {
        let store = Store()
        let log = try store.open()
        let long = row(5, byteCount: Self.longest + 1)
        _ = try log.write(author: nil) { transaction in
            _ = try transaction.insert(row(1))
            let id = try transaction.allocateIDs(1, in: testTable)
            try transaction.put(id, in: testTable, layout: 1, changed: nil, flags: [], byteCount: long.count) {
                $0.copyBytes(from: long)
            }
        }
        let again = try store.killed.open()
        #expect(try again.snapshot().row(2) == long)
        #expect(try again.snapshot().firstID(row(1)) == 1)
        #expect(try again.findings().contains { $0.id == 2 })
        #expect(try store.rebuilt().snapshot().row(2) == long)
    }
}
