import FaultlineLog
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Testing

struct RowArenaTests {
    /// An evicted row is not found, and a present one has the bytes that were inserted.
    @Test(arguments: Seed.list(10))
    func givesTheRightRowOrNone(seed: Seed) {
        var random = seed
        let layout = RowLayout(number: 1, entityName: "Thing", columns: [])
        var arena = RowArena()
        var kept: [(reference: RowReference, bytes: [UInt8])] = []
        var lostCount = 0
        for step in 0..<6_000 {
            switch random.below(20) {
            case 0 where random.oneIn(10):
                _ = arena.evict(random.below(4 * RowArena.blockByteCount))
            case 1 where random.oneIn(200):
                _ = arena.evictAll()
            case 2...12:
                let bytes = random.bytes(random.oneIn(100) ? 40_000 : random.below(600))
                if !arena.hasRoom(for: bytes.count) { arena.addBlock(minimum: RowArena.footprint(bytes.count)) }
                let reference = bytes.withUnsafeBytes { source in
                    withUnsafeBytes(of: UInt64(0)) { empty in
                        arena.append(
                            RowView(
                                trusted: source.baseAddress ?? empty.baseAddress.unsafelyUnwrapped,
                                byteCount: bytes.count,
                                table: layout.table, hasExtension: false),
                            location: .absent)
                    }
                }
                kept.append((reference, bytes))
            default:
                guard !kept.isEmpty else { continue }
                let row = random.pick(kept)
                guard let address = arena.row(row.reference) else {
                    lostCount += 1
                    let isValid = arena.isValid(row.reference)
                    #expect(!isValid)
                    continue
                }
                let view = RowArena.view(address)
                let found = [UInt8](UnsafeRawBufferPointer(start: view.base, count: Int(view.byteCount)))
                guard found == row.bytes, arena.rowInCurrentBlock(row.reference) == address else {
                    Issue.record("step \(step): another row; \(seed.replayLine)")
                    return
                }
                // Bytes read without a lock must survive when other threads need memory.
                _ = arena.evict(random.below(RowArena.blockByteCount))
                let after = arena.rowInCurrentBlock(row.reference)
                #expect(after == address)
            }
        }
        #expect(lostCount > 0, "nothing was ever given up; \(seed.replayLine)")
    }
}
