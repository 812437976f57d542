import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Compares an index with a dictionary, through memtables, flushes, merges, crashes and reopening.
struct IndexModelTests {
    private typealias Model = [[UInt8]: RecordID]

    /// Keys that share long prefixes, differ in length, and are sometimes as long as a key may be.
    private func key(_ random: inout Seed) -> [UInt8] {
        if random.oneIn(150) {
            return [UInt8](repeating: 1, count: IndexDefinition.keyByteCountMax - 1) + [UInt8(random.below(4))]
        }
        let count = random.oneIn(20) ? random.below(900) : random.below(14)
        return (0..<count).map { _ in UInt8(random.pick([0, 1, 255])) }
    }

    private func compare(_ model: Model, _ snapshot: Snapshot, _ random: inout Seed) throws {
        var keys: [[UInt8]] = Array(model.keys).sorted { $0.lexicographicallyPrecedes($1) }
        var found: [[UInt8]] = []
        try snapshot.forEachEntry(in: WholeRowDeriver.index, prefix: UnsafeRawBufferPointer(start: nil, count: 0)) {
            key, id in
            found.append(Array(key))
            #expect(model[Array(key)] == id)
            return true
        }
        #expect(found == keys)
        for _ in 0..<40 { keys.append(key(&random)) }
        for key in keys { #expect(try snapshot.firstID(key) == model[key]) }
        for _ in 0..<5 {
            let prefix = Array(key(&random).prefix(3))
            var count = 0
            try prefix.withUnsafeBytes {
                try snapshot.forEachEntry(in: WholeRowDeriver.index, prefix: $0) { key, _ in
                    #expect(key.starts(with: prefix))
                    count += 1
                    return true
                }
            }
            #expect(count == model.keys.filter { $0.starts(with: prefix) }.count)
        }
    }

    @Test(arguments: Seed.list(6, unoptimized: 2)) func agreesWithADictionary(seed: Seed) throws {
        var random = seed
        var store = Store()
        var log = try store.open()
        var model: Model = [:]
        var known: [[UInt8]] = []
        var held: [(Model, Snapshot)] = []
        for _ in 0..<30 {
            _ = try log.write(author: nil) { transaction in
                let keys = (0..<random.below(120)).map { _ in key(&random) }
                for key in keys {
                    let holder = model[key]
                    let place = known.isEmpty ? 0 : random.below(known.count)
                    #expect(try transaction.firstID(key) == holder)
                    if let holder, random.oneIn(2) {
                        try transaction.erase(holder)
                        model[key] = nil
                    } else if holder == nil, random.oneIn(3), !known.isEmpty, let id = model[known[place]] {
                        let other = known[place]
                        // Another object takes the key, and loses its own.
                        try transaction.put(id, key)
                        model[other] = nil
                        model[key] = id
                    } else if holder == nil {
                        model[key] = try transaction.insert(key)
                        known.append(key)
                    }
                }
            }
            if random.oneIn(3) { held.append((model, log.snapshot())) }
            if random.oneIn(2) { try log.checkpoint() }
            try compare(model, log.snapshot(), &random)
            if held.count > 3 {
                let (past, snapshot) = held.removeFirst()
                try compare(past, snapshot, &random)
            }
            if random.oneIn(6) {
                held.removeAll()
                #expect(try log.findings().isEmpty)
                let next = random.oneIn(2) ? store.killed : store
                if next.disk === store.disk { try log.close() } else { log.abandonForTests() }
                store = next
                log = try store.open()
                try compare(model, log.snapshot(), &random)
            }
        }
        #expect(try log.findings().isEmpty, "\(seed.replayLine)")
    }
}
