import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineObjects
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// New objects that a custom stage inserts by relating them are let go before its save, and stay members.
struct SpilledMemberTests {
    typealias V2 = SpilledInsertVersions.V2
    typealias Closure = SpilledInsertVersions.Closure

    /// Runs a stage whose context lets new objects go once they take 100 kB, and checks the store.
    private func migrate(_ closure: Closure, _ check: (ModelContext) throws -> Void) throws {
        let stores = Stores()
        try SpilledInsertVersions.fill(stores)
        try Closure.$current.withValue(closure) {
            let options = SpilledInsertVersions.options(share: 100_000)
            try stores.use(V2.self, SpilledInsertVersions.Plan.self, migration: options) { try check($1) }
        }
        #expect(try stores.findings(V2.self) == [])
    }

    private static func items(_ context: ModelContext) throws -> [V2.Item] {
        try context.fetch(FetchDescriptor<V2.Item>(sortBy: [SortDescriptor(\.number)]))
    }

    @Test func `objects that are related in their initializers are let go once these have ended`() throws {
        let closure = Closure { context in
            let stage = StageContext(context.core)
            let items = try Self.items(context)
            func make(_ number: Int, beforeText: () throws -> Void = {}) throws {
                _ = try V2.Note(
                    number: number, item: items[number % items.count], text: "Note \(number)", beforeText: beforeText)
            }
            for number in 0..<5_000 { try make(number) }
            #expect(stage.insertedCount == 5_000 && stage.spilledCount > 4_000)
            // The initializer of one runs while those that follow it are let go.
            try make(5_000) {
                for number in 5_001..<10_000 { try make(number) }
                #expect(stage.insertedCount == 10_000 && stage.spilledCount > 9_000)
            }
            try context.save()
            #expect(!context.hasChanges)
        }
        try migrate(closure) { context in
            let notes = try context.fetch(FetchDescriptor<V2.Note>())
            #expect(notes.map(\.number) == Array(0..<10_000))
            #expect(notes.allSatisfy { $0.text == "Note \($0.number)" && $0.item.number == $0.number % 5 })
            for item in try Self.items(context) {
                #expect(item.notes.map(\.number) == Array(stride(from: item.number, to: 10_000, by: 5)))
            }
        }
    }

    @Test func `objects that are inserted by a relationship alone are let go`() throws {
        let closure = Closure { context in
            let stage = StageContext(context.core)
            let items = try Self.items(context)
            for number in 0..<10_000 {
                let line = V2.Line(number: number, text: "Line \(number)")
                line.item = items[number % items.count]
            }
            #expect(stage.insertedCount == 10_000 && stage.spilledCount > 9_000)
            // By a property of an object of the context.
            let line = V2.Line(number: 10_000, text: "Line 10000")
            context.insert(line)
            for number in 0..<10_000 { line.next = V2.Line(number: 10_001 + number, text: "Line \(10_001 + number)") }
            #expect(stage.insertedCount == 20_001 && stage.spilledCount > 19_000)
            try context.save()
        }
        try migrate(closure) { context in
            let lines = try context.fetch(FetchDescriptor<V2.Line>())
            #expect(lines.map(\.number) == Array(0...20_000))
            #expect(lines.allSatisfy { $0.text == "Line \($0.number)" })
            #expect(lines[10_000].next?.number == 20_000)
            for item in try Self.items(context) {
                #expect(item.lines.map(\.number) == Array(stride(from: item.number, to: 10_000, by: 5)))
            }
        }
    }

    @Test func `collections keep the members that were let go when an initializer fails`() throws {
        let closure = Closure { context in
            let stage = StageContext(context.core)
            let item = try #require(try Self.items(context).first)
            for number in 0..<10_000 {
                let line = V2.Line(number: number, text: "Line \(number)")
                context.insert(line)
                line.item = item
            }
            for number in 0..<10_000 { _ = try V2.Note(number: number, item: item, text: "Note \(number)") }
            #expect(stage.spilledCount > 19_000)
            #expect(throws: V2.EmptyText.self) { try V2.Note(number: 10_000, item: item, text: "") }
            #expect(stage.insertedCount == 20_000)
            #expect(item.lines.map(\.number) == Array(0..<10_000))
            #expect(item.notes.map(\.number) == Array(0..<10_000))
            context.delete(item)
            try context.save()
        }
        try migrate(closure) { context in
            #expect(try context.fetchCount(FetchDescriptor<V2.Note>()) == 0)
            let lines = try context.fetch(FetchDescriptor<V2.Line>())
            #expect(lines.count == 10_000 && lines.allSatisfy { $0.item == nil })
            #expect(try context.fetchCount(FetchDescriptor<V2.Item>()) == SpilledInsertVersions.itemCount - 1)
        }
    }

    // In a process of its own: where code has asked for notifications, a save makes all objects again.
    @Test func `a save that failed can be repeated with the objects that were let go`() async {
        await #expect(processExitsWith: .success) {
            let stores = Stores()
            try SpilledInsertVersions.fill(stores)
            let isAtEnd = Guarded(false)
            let closure = Closure { context in
                let stage = StageContext(context.core)
                let items = try Self.items(context)
                let note = try V2.Note(number: 0, item: items[0], text: "Note")
                items[0].notes = []
                for number in 0..<10_000 {
                    let line = V2.Line(number: number, text: "Line \(number)")
                    context.insert(line)
                    line.item = items[number % items.count]
                }
                #expect(throws: (any Error).self) { try context.save() }
                #expect(stage.insertedCount == 10_001 && stage.spilledCount > 9_000)
                note.item = items[1]
                try context.save()
                #expect(try context.fetch(FetchDescriptor<V2.Line>()).map(\.number) == Array(0..<10_000))
                for item in items {
                    #expect(item.lines.map(\.number) == Array(stride(from: item.number, to: 10_000, by: 5)))
                }
                #expect(items[1].notes.map(\.number) == [0])
                isAtEnd.withLock { $0 = true }
            }
            // A stage fails although its closure has caught the error of a save.
            #expect(throws: (any Error).self) {
                try Closure.$current.withValue(closure) {
                    let options = SpilledInsertVersions.options(share: 100_000)
                    try stores.use(V2.self, SpilledInsertVersions.Plan.self, migration: options) { _, _ in }
                }
            }
            #expect(isAtEnd.withLock { $0 })
        }
    }

    @Test("Objects that replace stored ones take little memory", .enabled(if: PeakMemory.isExact))
    func replacesInLittleMemory() async {
        await #expect(processExitsWith: .success) {
            let stores = Stores(isOnDisk: true)
            try SpilledInsertVersions.fill(stores)
            let count = 100_000
            let growth = Guarded((closure: 0, save: 0))
            let closure = Closure { context in
                func make(_ title: String) {
                    for number in 0..<count {
                        context.insert(V2.Page(code: "new \(number)", title: title), onConflict: .update)
                    }
                }
                make("first")
                try context.save()
                #expect(PeakMemory.reset())
                let before = try #require(PeakMemory.residentByteCount)
                make("second")
                let inserted = try #require(PeakMemory.peakByteCount)
                try context.save()
                let saved = try #require(PeakMemory.peakByteCount)
                growth.withLock { $0 = (inserted - before, saved - before) }
            }
            try Closure.$current.withValue(closure) {
                let options = MigrationOptions(memoryCeiling: 16 << 20)
                try stores.use(V2.self, SpilledInsertVersions.Plan.self, migration: options) { _, context in
                    let second = #Predicate<V2.Page> { $0.title == "second" }
                    let replacedCount = try context.fetchCount(FetchDescriptor(predicate: second))
                    #expect(replacedCount == count)
                }
            }
            let (inserting, saving) = growth.withLock { $0 }
            // No entry for each object, then up to 100 bytes of each in the save.
            #expect(inserting < 8 << 20, "\(inserting) bytes in the closure")
            #expect(saving < 20 << 20, "\(saving) bytes with the save")
        }
    }
}
