import Faultline
import FaultlineTestSupport
import Testing

/// A walk over objects that holds one of them at a time, as mapped stages do.
struct SingleWalkTests {
    @Test func `a walk with one object at a time reads no more than its rows`() throws {
        let count = 600
        let stores = Stores()
        try stores.use(WalkVersion.self) { _, context in
            for number in 0..<count {
                context.insert(WalkVersion.Step(String(repeating: "s", count: 500) + "\(number)"))
            }
            try context.save()
        }
        let disk = CountingDisk(over: stores.disk)
        try Stores(disk, stores.directory).use(WalkVersion.self) { container, context in
            let identifiers = try context.fetchIdentifiers(FetchDescriptor<WalkVersion.Step>())
            let before = container.counters
            let (characters, counts) = try disk.counting {
                try identifiers.reduce(0) { sum, identifier in
                    try sum + #require(context.model(for: identifier) as? WalkVersion.Step).name.count
                }
            }
            #expect(characters > count * 500)
            let read = container.counters - before
            #expect(read.faultsFired == count && read.rowsRead == count)
            #expect(counts.bytesRead < count * 1_000)
        }
    }
}

private enum WalkVersion: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Step.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Step {
        var name: String
        init(_ name: String) { self.name = name }
    }
}
