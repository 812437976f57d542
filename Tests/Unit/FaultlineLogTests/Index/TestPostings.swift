import FaultlineLog
import FaultlineTestSupport

/// Random entries of a text index, and the answers to questions about them by looking at all.
struct TestPostings {
    static let definition = IndexDefinition(
        id: IndexID(rawValue: 7), isUnique: false, searchPrefix: .bytes(9), isText: true)

    /// The same index as older releases wrote it: without blocks of postings.
    static let oldDefinition = IndexDefinition(
        id: IndexID(rawValue: 7), isUnique: false, searchPrefix: .bytes(9), isSecondary: true)

    /// How identifiers, sequence numbers and payloads are drawn.
    private let idMax: UInt64
    private let termCount: Int
    private let hasLine: Bool
    private let hasOddKeys: Bool
    private let versionCount: Int

    init(_ random: inout Seed) {
        idMax = random.pick([40, 3_000, 1 << 20, IndexBlockLimits.idMax])
        termCount = random.pick([1, 4, 60, 2_000])
        hasLine = random.oneIn(2)
        hasOddKeys = random.oneIn(2)
        versionCount = random.pick([1, 1, 3])
    }

    static func key(_ term: [UInt8], _ id: RecordID, _ payload: [UInt8]) -> [UInt8] {
        term + [0] + withUnsafeBytes(of: id.bigEndian) { Array($0) } + payload
    }

    func term(_ random: inout Seed) -> [UInt8] {
        var number = random.oneIn(2) ? random.below(min(4, termCount)) : random.below(termCount)
        if termCount > 4, random.oneIn(300) { return [UInt8](repeating: 97, count: 255 - random.below(2)) }
        var term: [UInt8] = []
        while number > 0 {
            term.append(UInt8(97 + number % 5))
            number /= 5
        }
        return term
    }

    private func id(_ random: inout Seed) -> RecordID { 1 + random.next() % idMax }

    private func payload(_ random: inout Seed) -> [UInt8] {
        let count = random.oneIn(40) ? 1 + random.below(200) : 1 + random.below(3)
        return (0..<count).map { _ in UInt8(random.oneIn(3) ? random.below(256) : random.below(4)) }
    }

    private func sequence(_ id: RecordID, _ random: inout Seed) -> UInt64 {
        if random.oneIn(2_000) { return random.pick([0, 1 << 62]) }
        return hasLine ? 1_000 + id / 7 + UInt64(random.below(3)) : UInt64(random.below(100_000))
    }

    /// Entries that are no postings.
    private func oddKey(_ id: RecordID, _ random: inout Seed) -> [UInt8] {
        let posting = Self.key(term(&random), id, payload(&random))
        switch random.below(7) {
        case 0: return [255]
        case 1: return []
        case 2: return Array(posting.dropLast(random.below(posting.count)))
        case 3: return Self.key(term(&random), id ^ 1, [1])
        case 4: return Self.key([UInt8](repeating: 98, count: 256), id, [1])
        case 5: return Self.key(term(&random), id, [UInt8](repeating: 1, count: 4_096))
        default: return Self.key([], id, [])
        }
    }

    /// Sorted entries, none twice.
    func entries(_ count: Int, _ random: inout Seed) -> [TestEntry] {
        var entries: Set<TestEntry> = []
        for _ in 0..<count {
            let id = id(&random)
            let isOdd = hasOddKeys && random.oneIn(60)
            let key = isOdd ? oddKey(id, &random) : Self.key(term(&random), id, payload(&random))
            for _ in 0...random.below(versionCount) {
                let sequence = sequence(id, &random)
                entries.insert(TestEntry(key: key, id: id, sequence: sequence, isDelete: random.oneIn(9)))
            }
        }
        // One of a key, an identifier and a sequence number.
        var kept: [TestEntry] = []
        for entry in entries.sorted(by: <) {
            if let last = kept.last, last.key == entry.key, last.id == entry.id, last.sequence == entry.sequence {
                continue
            }
            kept.append(entry)
        }
        return kept
    }

    /// The live entries at a sequence number: the newest of each key and identifier, if it is no delete.
    static func live(_ entries: [TestEntry], at limit: UInt64) -> [TestEntry] {
        var newest: [TestEntry] = []
        for entry in entries.sorted(by: <) where entry.sequence <= limit {
            if let last = newest.last, last.key == entry.key, last.id == entry.id { continue }
            newest.append(entry)
        }
        return newest.filter { !$0.isDelete }
    }
}

/// Limits of entries.
enum IndexBlockLimits {
    static let idMax: UInt64 = 1 << 48 - 1
}
