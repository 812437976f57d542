import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineObjects
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// New objects that the closures of a custom stage insert are written to the store before the save, and let go, once
/// they exceed their share of the ceiling.
struct SpilledInsertTests {
    typealias V1 = SpilledInsertVersions.V1
    typealias V2 = SpilledInsertVersions.V2
    typealias Plan = SpilledInsertVersions.Plan
    typealias Closure = SpilledInsertVersions.Closure

    @Test("A custom stage that inserts small objects stays within its ceiling", .enabled(if: PeakMemory.isExact))
    func staysWithinItsCeiling() async {
        await #expect(processExitsWith: .success) {
            let stores = Stores(isOnDisk: true)
            try SpilledInsertVersions.fill(stores)
            // 80 MB of objects.
            let count = 300_000
            let closure = Closure { context in
                for number in 0..<count { context.insert(V2.Line(number: number, text: "The text of line \(number)")) }
                try context.save()
            }
            #expect(PeakMemory.reset())
            let before = try #require(PeakMemory.residentByteCount)
            try Closure.$current.withValue(closure) {
                try stores.use(V2.self, Plan.self, migration: MigrationOptions(memoryCeiling: 16 << 20)) { _, _ in }
            }
            let growth = try #require(PeakMemory.peakByteCount) - before
            #expect(growth <= 32 << 20, "\(growth) bytes above the base line")
            try stores.use(V2.self) { _, context in
                var number = 0
                try context.enumerate(FetchDescriptor<V2.Line>()) { line in
                    if line.number != number || line.text != "The text of line \(number)" { Issue.record("\(number)") }
                    number += 1
                }
                #expect(number == count)
            }
            #expect(try stores.findings(V2.self) == [])
        }
    }

    @Test(arguments: Seed.list(40, unoptimized: 6))
    func `a context that lets objects go shows and saves the same as one that does not`(_ seed: Seed) throws {
        var logs: [[String]] = []
        var spilledCounts: [Int] = []
        for spills in [false, true] {
            let stores = Stores()
            try SpilledInsertVersions.fill(stores)
            let result = Guarded<(log: [String], spilledCount: Int)>(([], 0))
            let closure = Closure { context in
                context.core.rules.spillsInserts = spills
                var life = try SpilledInsertLife(seed, context)
                try life.run(2_000)
                try context.core.checkInvariants()
                result.withLock { $0 = (life.log, life.savedSpilledCount) }
            }
            try Closure.$current.withValue(closure) {
                let options = SpilledInsertVersions.options(share: 10_000)
                try stores.use(V2.self, Plan.self, migration: options) { container, context in
                    let report = container.migrationReport
                    let contents = try SpilledInsertLife.contents(context)
                    let counts = report.stages.flatMap(\.entities).map { "\($0.name) \($0.written) \($0.deleted)" }
                    logs.append(result.withLock { $0.log } + contents + counts + ["\(report.objectsWritten)"])
                }
            }
            spilledCounts.append(result.withLock { $0.spilledCount })
            #expect(try stores.findings(V2.self) == [])
        }
        let difference = zip(logs[0], logs[1]).first { $0 != $1 }.map { "\($0)" }
        #expect(difference == nil)
        #expect(logs[0].count == logs[1].count)
        #expect(spilledCounts[0] == 0)
        #expect(spilledCounts[1] > 0 || seed.origin != 10)
    }

    @Test func `objects that the closure does not hold are let go, and all of them are counted`() throws {
        let stores = Stores()
        try SpilledInsertVersions.fill(stores)
        let closure = Closure { context in
            let stage = StageContext(context.core)
            var held: [V2.Line] = []
            for number in 0..<10_000 {
                let line = V2.Line(number: number, text: "Line \(number)")
                context.insert(line)
                if number % 1_000 == 0 { held.append(line) }
                // The share, and those that came since.
                #expect(stage.insertedCount - stage.spilledCount < 600)
            }
            #expect(stage.insertedCount == 10_000 && stage.insertedCounts == ["Line": 10_000])
            #expect(try context.fetchCount(FetchDescriptor<V2.Line>()) == 10_000)
            #expect(stage.spilledCount > 9_000)
            // Other entities are fetched beside them.
            #expect(try context.fetch(FetchDescriptor<V2.Page>()).count == SpilledInsertVersions.pageCount)
            #expect(stage.spilledCount > 9_000)
            held[3].text = "changed"
            try context.save()
            #expect(stage.insertedCount == 0 && !context.hasChanges)
            #expect(held.map(\.number) == Array(stride(from: 0, to: 10_000, by: 1_000)))
            // Lost, and counted.
            for number in 0..<2_000 { context.insert(V2.Line(number: number, text: "lost")) }
            #expect(stage.spilledCount > 1_000)
        }
        try Closure.$current.withValue(closure) {
            let options = SpilledInsertVersions.options(share: 100_000)
            try stores.use(V2.self, Plan.self, migration: options) { container, context in
                #expect(container.migrationReport.changesNotSaved == 2_000)
                let lines = try context.fetch(FetchDescriptor<V2.Line>())
                #expect(lines.map(\.number) == Array(0..<10_000))
                #expect(lines[3_000].text == "changed")
            }
        }
        #expect(try stores.findings(V2.self) == [])
    }

    @Test func `members that join a collection from their own side are let go, and stay members`() throws {
        let stores = Stores()
        try SpilledInsertVersions.fill(stores)
        let closure = Closure { context in
            let stage = StageContext(context.core)
            let items = try context.fetch(FetchDescriptor<V2.Item>(sortBy: [SortDescriptor(\.number)]))
            for number in 0..<6_000 {
                let line = V2.Line(number: number, text: "Line \(number)")
                context.insert(line)
                line.item = items[number % items.count]
                if number == 4_000 {
                    // Read while most are gone, and let go again.
                    #expect(stage.spilledCount > 3_000)
                    #expect(items[0].lines.map(\.number) == Array(stride(from: 0, through: 4_000, by: items.count)))
                    #expect(stage.spilledCount == 0)
                }
            }
            for number in 6_000..<20_000 {
                let line = V2.Line(number: number, text: "Line \(number)")
                context.insert(line)
                line.item = items[number % items.count]
            }
            #expect(stage.spilledCount > 15_000)
            try context.save()
        }
        try Closure.$current.withValue(closure) {
            let options = SpilledInsertVersions.options(share: 100_000)
            try stores.use(V2.self, Plan.self, migration: options) { _, context in
                for item in try context.fetch(FetchDescriptor<V2.Item>()) {
                    #expect(item.lines.map(\.number) == Array(stride(from: item.number, to: 20_000, by: 5)))
                }
            }
        }
        #expect(try stores.findings(V2.self) == [])
    }

    @Test("A save of many links takes little memory", .enabled(if: PeakMemory.isExact))
    func savesLinksInLittleMemory() async {
        await #expect(processExitsWith: .success) {
            let stores = Stores(isOnDisk: true)
            try SpilledInsertVersions.fill(stores)
            let growth = Guarded(0)
            let closure = Closure { context in
                var lines: [V2.Line] = []
                for number in 0..<1_000 {
                    let line = V2.Line(number: number, text: "")
                    context.insert(line)
                    lines.append(line)
                }
                let tags = (0..<200).map { V2.Tag(name: "\($0)") }
                tags.forEach { context.insert($0) }
                try context.save()
                for line in lines { line.tags = tags }
                #expect(PeakMemory.reset())
                let before = try #require(PeakMemory.residentByteCount)
                try context.save()
                let peak = try #require(PeakMemory.peakByteCount)
                growth.withLock { $0 = peak - before }
            }
            try Closure.$current.withValue(closure) {
                try stores.use(V2.self, Plan.self, migration: MigrationOptions(memoryCeiling: 16 << 20)) { _, _ in }
            }
            // 200,000 links: 40 bytes of each, and the engine's share.
            #expect(growth.withLock { $0 } < 28 << 20, "\(growth.withLock { $0 }) bytes during the save")
        }
    }
}
