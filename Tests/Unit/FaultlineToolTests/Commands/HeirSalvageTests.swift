import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

/// A salvage of a store whose classes inherit from each other.
struct HeirSalvageTests {
    enum Rescued {
        @Model class Parcel {
            var label: String
            init(label: String) { self.label = label }
        }

        @Model final class Crate: Parcel {
            var planks: Int
            init(label: String, planks: Int) {
                self.planks = planks
                super.init(label: label)
            }
        }
    }

    /// Whether IDENTITY has the bit that keeps older releases from the store.
    private static func hasFeature(_ path: String) throws -> Bool {
        try #require(FileManager.default.contents(atPath: path + "/IDENTITY"))[64] & 4 != 0
    }

    private static func container(_ path: String) throws -> ModelContainer {
        try ModelContainer(
            for: Rescued.Parcel.self, Rescued.Crate.self,
            configurations: ModelConfiguration(url: URL(filePath: path)))
    }

    @Test func `the new store has the feature of subclasses, and its objects their classes`() async throws {
        let folder = TemporaryDirectory()
        let (old, new) = (folder.path + "/old", folder.path + "/new")
        let container = try Self.container(old)
        let context = ModelContext(container)
        context.insert(Rescued.Parcel(label: "p"))
        context.insert(Rescued.Crate(label: "c", planks: 6))
        try context.save()
        try container.close()
        #expect(try Self.hasFeature(old))
        await #expect(processExitsWith: .success) { [old = old as String, new = new as String] in
            runFaultlineTool(["salvage", old, new])
        }
        #expect(try Self.hasFeature(new))
        let rescued = try Self.container(new)
        let crates = try ModelContext(rescued).fetch(FetchDescriptor<Rescued.Crate>())
        #expect(crates.map(\.planks) == [6])
        try rescued.close()
    }

    @Test(arguments: [false, true]) func `an opening adds the feature that a salvage has left out`(
        withoutClasses: Bool
    ) throws {
        let folder = TemporaryDirectory()
        let path = folder.path + "/store"
        let file = path + "/IDENTITY"
        let plain = try ModelContainer(
            for: Rescued.Parcel.self, configurations: ModelConfiguration(url: URL(filePath: path)))
        let context = ModelContext(plain)
        context.insert(Rescued.Parcel(label: "p"))
        try context.save()
        try plain.close()
        let before = try #require(FileManager.default.contents(atPath: file))
        try Self.container(path).close()
        #expect(try Self.hasFeature(path))
        try before.write(to: URL(filePath: file))
        #expect(try !Self.hasFeature(path))
        if withoutClasses {
            try ModelContainer(opening: ModelConfiguration(url: URL(filePath: path))).close()
        } else {
            try Self.container(path).close()
        }
        #expect(try Self.hasFeature(path))
    }
}
