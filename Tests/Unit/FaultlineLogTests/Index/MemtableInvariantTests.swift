import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct MemtableInvariantTests {
    private let memtable = Memtable(
        definition: IndexDefinition(id: IndexID(rawValue: 1), isUnique: false, searchPrefix: .bytes(2)))

    private func append(_ key: [UInt8], _ id: RecordID, sequence: UInt64) {
        key.withUnsafeBytes { memtable.append(key: $0, id: id, isDelete: false, sequence: sequence) }
    }

    @Test(arguments: Seed.list(4)) func `entries keep the rules, also those that are reverted`(seed: Seed) throws {
        var random = seed
        for sequence in 1...UInt64(200) {
            let mark = memtable.mark()
            for id in 1...UInt64(1 + random.below(9)) {
                append(random.bytes(1 + random.below(4)), id, sequence: sequence)
            }
            try memtable.checkInvariants()
            guard random.oneIn(4) else { continue }
            memtable.revert(to: mark)
            try memtable.checkInvariants()
        }
    }

    @Test func `an entry that is older than the one before breaks a rule`() throws {
        append([1, 2, 3], 1, sequence: 5)
        memtable.rewindSequence(to: 3)
        append([4, 5, 6], 2, sequence: 4)
        let error = #expect(throws: BrokenInvariant.self) { try memtable.checkInvariants() }
        #expect(error?.type == "Memtable")
        #expect(error?.rule.hasPrefix("sequence numbers never fall along the arena") == true)
    }

    @Test func `an entry that is newer than the memtable says breaks a rule`() throws {
        append([1, 2, 3], 1, sequence: 5)
        memtable.rewindSequence(to: 3)
        let error = #expect(throws: BrokenInvariant.self) { try memtable.checkInvariants() }
        #expect(error?.type == "Memtable")
    }

    @Test func `an entry in the chain of another prefix breaks a rule`() throws {
        let other = memtable.hash(of: UnsafeRawBufferPointer(start: nil, count: 0))
        [UInt8]([1, 2, 3]).withUnsafeBytes {
            memtable.append(key: $0, hash: other, id: 1, isDelete: false, sequence: 5)
        }
        let error = #expect(throws: BrokenInvariant.self) { try memtable.checkInvariants() }
        #expect(error?.rule == "a chain holds exactly the entries of one search prefix")
    }
}
