import Faultline
import FaultlineDisk
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Saves over several stores beside others, and code that is called by them.
@Suite(.timeLimit(.minutes(2))) struct SaveOrderTests {
    private let folder = TemporaryDirectory()

    private func open(visitsFirst: Bool) throws -> ModelContainer {
        let piers = HarborStores.configuration("piers", folder.path, Schema([HarborPier.self]))
        let visits = HarborStores.configuration("visits", folder.path)
        return try ModelContainer(
            for: Schema([HarborPier.self, HarborVisit.self]),
            configurations: visitsFirst ? [visits, piers] : [piers, visits])
    }

    @Test func `containers that name the stores in opposite orders never wait for each other`() async throws {
        let containers = try [open(visitsFirst: false), open(visitsFirst: true)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                let container = containers[task % 2]
                group.addTask {
                    for round in 0..<20 {
                        try await container.perform { context in
                            context.insert(HarborPier("\(task) \(round)"))
                            context.insert(HarborVisit(task * 100 + round))
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let context = ModelContext(containers[0])
        #expect(try context.fetchCount(FetchDescriptor<HarborPier>()) == 80)
        #expect(try context.fetchCount(FetchDescriptor<HarborVisit>()) == 80)
    }

    /// A store for each class, in an order of the test's.
    private func open(_ order: [String]) throws -> ModelContainer {
        let configurations = order.map { name in
            ModelConfiguration(
                name, schema: name == "bells" ? Schema([HarborBell.self]) : Schema([HarborPier.self]),
                isStoredInMemoryOnly: true)
        }
        return try ModelContainer(
            for: Schema([HarborBell.self, HarborPier.self]), configurations: configurations)
    }

    @Test(arguments: [["bells", "piers"], ["piers", "bells"]])
    func `a save in didSave leaves the observers of the other stores their calls`(_ order: [String]) throws {
        let context = ModelContext(try open(order))
        let (bell, pier) = (HarborBell("b"), HarborPier("north"))
        context.insert(bell)
        context.insert(pier)
        try context.save()
        let watched = Guarded(0)
        withObservationTracking {
            _ = pier.name
        } onChange: {
            watched.withLock { $0 += 1 }
        }
        // Saved by another context, and merged into this one by its save.
        let other = ModelContext(context.container)
        try other.fetch(FetchDescriptor<HarborPier>()).first?.name = "south"
        try other.save()
        pier.boats.append(HarborBoat("Anna"))
        bell.name = "c"
        bell.duty = {
            $0.duty = nil
            pier.boats.append(HarborBoat("Berta"))
            #expect(throws: Never.self) { try context.save() }
        }
        try context.save()
        #expect(watched.withLock { $0 } == 1 && pier.name == "south" && pier.boats.count == 2)
    }

    @Test(arguments: [["bells", "piers"], ["piers", "bells"]])
    func `a validation may change no store, also one without changes`(_ order: [String]) throws {
        let context = ModelContext(try open(order))
        let bell = HarborBell("b")
        context.insert(bell)
        bell.check = { context.insert(HarborPier("by validation")) }
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(context.insertedModelsArray.count == 1)
        bell.check = nil
        context.rollback()
        #expect(!context.hasChanges)
    }

    @Test func `a store that was saved is not among those that were not`() throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let failing = FailingDisk(over: disk)
        func configuration(_ name: String, _ schema: Schema) -> ModelConfiguration {
            ModelConfiguration(name, schema: schema, url: URL(filePath: "/s/\(name).store"))
        }
        let container = try StoreDisk.$current.withValue(failing) {
            try ModelContainer(
                for: Schema([HarborBell.self, HarborPier.self]),
                configurations: [
                    configuration("bells", Schema([HarborBell.self])),
                    configuration("piers", Schema([HarborPier.self])),
                ])
        }
        let context = ModelContext(container)
        let bell = HarborBell("b")
        context.insert(bell)
        context.insert(HarborPier("north"))
        try context.save()
        failing.arm(
            DiskFault(effect: .losesPages(.revertsToOldBytes, seed: nil)) {
                $0.site == "log.commit" && $0.path.contains("/piers.store")
            })
        bell.name = "c"
        bell.duty = { $0.name = "changed again" }
        context.insert(HarborPier("south"))
        let error = try #require(#expect(throws: StoresNotSavedError.self) { try context.save() })
        #expect(error.saved.map(\.name) == ["bells"] && error.unsaved.map(\.name) == ["piers"])
        #expect(bell.name == "changed again")
        try? container.close()
    }

    // MARK: The engine's work

    @Test func `a store that is only read does not keep the others from the disk`() throws {
        try open(visitsFirst: false).close()
        let disk = URL(filePath: folder.path)
        let visits = ModelConfiguration("visits", url: disk.appending(path: "visits.store"), allowsSave: false)
        let piers = HarborStores.configuration("piers", folder.path, Schema([HarborPier.self]))
        let container = try ModelContainer(
            for: Schema([HarborPier.self, HarborVisit.self]), configurations: [visits, piers])
        let context = ModelContext(container)
        context.insert(HarborPier("north"))
        try context.save()
        try container.synchronize()
        try container.checkpoint()
        try container.compact()
        #expect(try container.rewrite().leftCount == 0)
        try container.close()
    }

    // MARK: Identity

    @Test(arguments: [true, false])
    func `an identifier leads to its store, also where another has an entity that had the name`(
        _ isEarlierFirst: Bool
    ) throws {
        let earlier = ModelConfiguration("landings", schema: Schema([HarborLanding.self]), isStoredInMemoryOnly: true)
        let visits = ModelConfiguration("visits", schema: Schema([HarborVisit.self]), isStoredInMemoryOnly: true)
        let container = try ModelContainer(
            for: Schema([HarborLanding.self, HarborVisit.self]),
            configurations: isEarlierFirst ? [earlier, visits] : [visits, earlier])
        let context = ModelContext(container)
        let (visit, landing) = (HarborVisit(7), HarborLanding(8))
        context.insert(visit)
        context.insert(landing)
        let registered: HarborVisit? = context.registeredModel(for: visit.persistentModelID)
        #expect(registered === visit)
        try context.save()
        let other = ModelContext(container)
        #expect(try other.existing(visit.persistentModelID, as: HarborVisit.self)?.code == 7)
        #expect(try other.existing(landing.persistentModelID, as: HarborLanding.self)?.code == 8)
        #expect(other.model(for: visit.persistentModelID) is HarborVisit)
    }

    // MARK: One store by two ways

    @Test func `two paths to one store are refused`() throws {
        let piers = HarborStores.configuration("piers", folder.path, Schema([HarborPier.self]))
        try ModelContainer(for: HarborPier.self, configurations: piers).close()
        let link = "\(folder.path)/link.store"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: piers.url.path)
        let copy = "\(folder.path)/copy.store"
        try FileManager.default.copyItem(atPath: piers.url.path, toPath: copy)
        for path in [link, copy] {
            let visits = ModelConfiguration("visits", schema: Schema([HarborVisit.self]), url: URL(filePath: path))
            #expect(throws: (any Error).self) {
                try ModelContainer(for: HarborPier.self, HarborVisit.self, configurations: piers, visits)
            }
            let same = ModelConfiguration("again", schema: Schema([HarborPier.self]), url: URL(filePath: path))
            #expect(throws: (any Error).self) {
                try ModelContainer(for: HarborPier.self, HarborVisit.self, configurations: piers, same)
            }
        }
        // Nothing stays open.
        try ModelContainer(for: HarborPier.self, configurations: piers).close()
    }

    @Test func `progress ends if one of the stores cannot be opened`() async throws {
        var visits = HarborStores.configuration("visits", folder.path, Schema([HarborVisit.self]))
        let updates = visits.options.migration.progressUpdates()
        let piers = HarborStores.configuration("piers", folder.path, Schema([HarborVisit.self]))
        #expect(throws: (any Error).self) {
            try ModelContainer(for: HarborPier.self, HarborVisit.self, configurations: piers, visits)
        }
        for await _ in updates {}
    }
}

@Model final class HarborBell: ObjectLifecycle {
    var name: String
    @Transient var duty: ((HarborBell) -> Void)?
    @Transient var check: (() -> Void)?
    init(_ name: String) { self.name = name }

    func didSave() { duty?(self) }
    func validateForInsert() throws { check?() }
}

@Model(originalName: "HarborVisit") final class HarborLanding {
    var code: Int
    init(_ code: Int) { self.code = code }
}
