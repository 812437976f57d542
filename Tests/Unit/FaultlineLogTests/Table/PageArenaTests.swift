import FaultlineLog
import Testing

struct PageArenaTests {
    private static let uncounted = 64

    @Test func `free pages keep their memory, which is counted, up to an eighth of the budget`() {
        let budget = MemoryBudget(byteCount: 8 * 200 * 4_096)
        let arena = PageArena(budget: budget)
        let pages = (0..<320).map { _ in arena.take() }
        #expect(Set(pages).count == 320)
        #expect(budget.used(for: .pages) == 320 * 4_096)
        for page in pages { page.storeBytes(of: 7, as: UInt64.self) }

        pages.forEach { arena.give($0) }
        #expect(budget.used(for: .pages) == 0)
        #expect(budget.used(for: .free) == (200 - Self.uncounted) * 4_096)
        // The excess pages have lost their memory; their addresses are still readable.
        #expect(pages.count { $0.load(as: UInt64.self) == 7 } == 200)

        let again = (0..<150).map { _ in arena.take() }
        #expect(budget.used(for: .pages) == 150 * 4_096)
        #expect(budget.used(for: .free) == 0)
        #expect(again.allSatisfy { $0.load(as: UInt64.self) == 7 })
        again.forEach { arena.give($0) }
    }

    @Test func `memory of free pages goes first where others need some`() {
        let budget = MemoryBudget(byteCount: 8 * 200 * 4_096)
        let arena = PageArena(budget: budget)
        // Safe because one thread uses it.
        final class Asked: @unchecked Sendable { var count = 0 }
        let asked = Asked()
        let rows = budget.register(.rows) { _ in
            asked.count += 1
            return 0
        }
        let pages = (0..<200).map { _ in arena.take() }
        pages.forEach { arena.give($0) }
        #expect(budget.used(for: .free) == 136 * 4_096)

        budget.reserve(budget.byteCount - 100 * 4_096, for: .rows)
        #expect(budget.used(for: .free) == 100 * 4_096)
        #expect(budget.used == budget.byteCount && asked.count == 0)
        budget.reserve(101 * 4_096, for: .rows)
        #expect(budget.used(for: .free) == 0 && asked.count == 1)
        withExtendedLifetime((arena, rows)) {}
    }

    @Test func `a page that is given because its bytes are wanted is not kept`() {
        let budget = MemoryBudget(byteCount: 8 * 200 * 4_096)
        let arena = PageArena(budget: budget)
        let pages = (0..<100).map { _ in arena.take() }
        pages.forEach { arena.give($0, isWanted: true) }
        #expect(budget.used == 0)
    }

    @Test func `an arena that goes away takes its count along`() {
        let budget = MemoryBudget(byteCount: 64 << 20)
        do {
            let arena = PageArena(budget: budget)
            let pages = (0..<500).map { _ in arena.take() }
            pages.forEach { arena.give($0) }
            #expect(budget.used > 0)
        }
        #expect(budget.used == 0)
    }
}
