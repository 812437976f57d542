import Faultline
import FaultlineDisk
import FaultlineTestSupport
import Foundation
import Testing

/// Saves over several stores: all rules first, then each store by itself, and one error about all.
@Suite(.timeLimit(.minutes(2))) struct SaveOfPartsTests {
    private let stores: HarborStores
    private var context: ModelContext { stores.context }

    init() throws { stores = try HarborStores() }

    private func counts(_ context: ModelContext) throws -> [Int] {
        [
            try context.fetchCount(FetchDescriptor<HarborPier>()),
            try context.fetchCount(FetchDescriptor<HarborVisit>()),
        ]
    }

    @Test func `a rule that one store breaks leaves both as they were`() throws {
        context.uniquenessConflicts = .error
        context.insert(HarborPier("north"))
        context.insert(HarborVisit(1))
        // Saved by another context in between.
        let other = ModelContext(stores.container)
        other.insert(HarborVisit(1))
        try other.save()
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error?.findings.map(\.rule) == [.unique])
        #expect(try counts(ModelContext(stores.container)) == [0, 1])
        #expect(context.insertedModelsArray.count == 2)

        // The other way round: the store that is asked first, or last, is no other.
        context.rollback()
        other.insert(HarborPier("north"))
        try other.save()
        context.insert(HarborPier("north"))
        context.insert(HarborVisit(2))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(try counts(ModelContext(stores.container)) == [1, 1])

        // Once the rule holds, all is saved.
        for pier in context.insertedModelsArray.compactMap({ $0 as? HarborPier }) { pier.name = "south" }
        try context.save()
        #expect(try counts(ModelContext(stores.container)) == [2, 2])
    }

    @Test func `the findings of both stores are in one error`() throws {
        let other = ModelContext(stores.container)
        other.insert(HarborVisit(1))
        other.insert(HarborPier("north"))
        try other.save()
        context.uniquenessConflicts = .error
        context.insert(HarborVisit(1))
        context.insert(HarborPier("north"))
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(Set(error?.findings.map(\.object.entityName) ?? []) == ["HarborPier", "HarborVisit"])
        #expect(error == .modelValidationFailure)
    }

    @Test func `a conflict by the error policy leaves both stores as they were`() throws {
        let visit = HarborVisit(1)
        context.insert(visit)
        try context.save()
        context.mergePolicy = .error
        visit.note = "mine"
        context.insert(HarborPier("north"))
        let other = ModelContext(stores.container)
        try other.fetch(FetchDescriptor<HarborVisit>()).first?.note = "theirs"
        try other.save()
        #expect(throws: MergeConflictError.self) { try context.save() }
        #expect(try counts(ModelContext(stores.container)) == [0, 1])
        context.mergePolicy = .mergeByPropertyStoreTrump
        try context.save()
        #expect(try counts(ModelContext(stores.container)) == [1, 1])
        #expect(visit.note == "theirs")
    }

    @Test func `notifications tell each store's objects`() throws {
        let (pier, visit) = (HarborPier("north"), HarborVisit(1))
        context.insert(pier)
        context.insert(visit)
        let listener = SaveListening(context)
        try context.save()
        let notes = listener.notes
        #expect(notes.map(\.name) == [ModelContext.willSave, ModelContext.didSave, ModelContext.didSave])
        let key = ModelContext.NotificationKey.insertedIdentifiers.rawValue
        let inserted = notes.compactMap { $0.userInfo?[key] as? Set<PersistentIdentifier> }
        #expect(Set(inserted) == [[pier.persistentModelID], [visit.persistentModelID]])
    }

    @Test func `two contexts save over both stores at the same time`() async throws {
        let container = stores.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
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
        #expect(try counts(ModelContext(container)) == [80, 80])
    }

    // MARK: Failing disks

    private static func open(on disk: Disk) throws -> ModelContainer {
        func configuration(_ name: String, _ schema: Schema?) -> ModelConfiguration {
            ModelConfiguration(name, schema: schema, url: URL(filePath: "/s/\(name).store"))
        }
        return try StoreDisk.$current.withValue(disk) {
            try ModelContainer(
                for: HarborPier.self, HarborVisit.self,
                configurations: configuration("piers", Schema([HarborPier.self])), configuration("visits", nil))
        }
    }

    /// A kill after the commit of one store, and before that of the other, leaves the same.
    @Test(arguments: ["piers", "visits"])
    func `a store whose disk fails is unsaved, and the other one saved`(_ failed: String) throws {
        let saved = failed == "piers" ? "visits" : "piers"
        let disk = SimulatedDisk(directories: ["/s"])
        let failing = FailingDisk(over: disk)
        let container = try Self.open(on: failing)
        let context = ModelContext(container)
        context.insert(HarborPier("first"))
        context.insert(HarborVisit(1))
        try context.save()
        failing.arm(
            DiskFault(effect: .losesPages(.revertsToOldBytes, seed: nil)) {
                $0.site == "log.commit" && $0.path.contains("/\(failed).store")
            })
        let (pier, visit) = (HarborPier("second"), HarborVisit(2))
        context.insert(pier)
        context.insert(visit)
        let error = try #require(#expect(throws: StoresNotSavedError.self) { try context.save() })
        #expect(error.saved.map(\.name) == [saved] && error.unsaved.map(\.name) == [failed])
        #expect(error.saved[0].transaction > 0)
        #expect((error.unsaved[0].error as? StorageError)?.code == .outcomeUnknown)
        #expect("\(error)".contains("Saved: \(saved)") && "\(error)".contains("Not saved: \(failed)"))

        // The rest stays unsaved, and a second save is about it alone.
        #expect(context.hasChanges && context.insertedModelsArray.count == 1)
        let left: any PersistentModel = failed == "piers" ? pier : visit
        #expect(context.insertedModelsArray[0] === left)
        let again = #expect(throws: StorageError.self) { try context.save() }
        #expect(again?.code == .writingStopped)
        try? container.close()

        let reopened = try Self.open(on: disk.afterProcessDeath())
        #expect(try counts(ModelContext(reopened)) == (failed == "piers" ? [1, 2] : [2, 1]))
        try reopened.close()
    }

    @Test func `an object is told its save once, in any of the stores`() throws {
        let container = try ModelContainer(
            for: TellingBuoy.self, TellingLamp.self,
            configurations: ModelConfiguration("a", schema: Schema([TellingLamp.self]), isStoredInMemoryOnly: true),
            ModelConfiguration("b", isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let (buoy, lamp) = (TellingBuoy("b"), TellingLamp("l"))
        context.insert(lamp)
        try context.save()
        lamp.told = []
        context.insert(buoy)
        buoy.lamp = lamp
        try context.save()
        // The lamp was unchanged until the buoy's `willSave` changed it.
        #expect(buoy.told == ["will", "did"] && lamp.told == ["will", "did"])
        #expect(lamp.count == 1)
        #expect(try ModelContext(container).fetch(FetchDescriptor<TellingLamp>()).map(\.count) == [1])
        // `didSave` of the buoy changed the lamp again: that is for the next save.
        #expect(lamp.name == "lit" && context.hasChanges)
        buoy.savesInside = true
        buoy.name = "c"
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error?.explanation.contains("willSave") == true)
    }

    @Test func `a read-only store among them refuses its changes, and nothing is saved`() throws {
        try stores.container.close()
        var visits = ModelConfiguration(
            "visits", url: URL(filePath: "\(stores.folder.path)/visits.store"), allowsSave: false)
        visits.options.durability = .async
        let container = try ModelContainer(
            for: HarborPier.self, HarborVisit.self,
            configurations: HarborStores.configuration("piers", stores.folder.path, Schema([HarborPier.self])), visits)
        let context = ModelContext(container)
        context.insert(HarborPier("north"))
        context.insert(HarborVisit(1))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(try counts(ModelContext(container)) == [0, 0])
        context.rollback()
        context.insert(HarborPier("north"))
        try context.save()
        #expect(try counts(ModelContext(container)) == [1, 0])
    }
}

/// Keeps the notifications of a context.
// Safe because they are posted on the thread of the save.
private final class SaveListening: @unchecked Sendable {
    private(set) var notes: [Notification] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ context: ModelContext) {
        for name in [ModelContext.willSave, ModelContext.didSave] {
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                    [unowned self] in self.notes.append($0)
                })
        }
    }

    deinit { tokens.forEach(NotificationCenter.default.removeObserver) }
}

@Model final class TellingBuoy: ObjectLifecycle {
    @Attribute(.unique) var name: String
    @Transient var told: [String] = []
    @Transient var lamp: TellingLamp?
    @Transient var savesInside = false
    init(_ name: String) { self.name = name }

    func willSave() {
        told.append("will")
        lamp?.count += 1
        if savesInside { try? modelContext?.save() }
    }

    func didSave() {
        told.append("did")
        lamp?.name = "lit"
    }
}

@Model final class TellingLamp: ObjectLifecycle {
    var name: String
    var count = 0
    @Transient var told: [String] = []
    init(_ name: String) { self.name = name }

    func willSave() { told.append("will") }
    func didSave() { told.append("did") }
}
