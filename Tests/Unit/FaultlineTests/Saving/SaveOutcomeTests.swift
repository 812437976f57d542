import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineObjects
import FaultlineTestSupport
import Glibc
import Testing

/// Whether a save is on the disk: waiting for it, and checking afterwards.
@Suite struct SaveOutcomeTests {
    private static let path = "/s/store"

    private func container(on disk: Disk, _ durability: FaultlineLog.Durability = .sync) throws -> ModelContainer {
        var options = LogOptions()
        options.maintenance = .manual
        options.durability = durability
        return try ModelContainer(for: [Label.self], directory: Self.path, on: disk, options: options)
    }

    private func labelCount(on disk: Disk) throws -> Int {
        let container = try container(on: disk)
        defer { try? container.close() }
        return try ModelContext(container).fetchCount(FetchDescriptor<Label>())
    }

    /// The error of a save whose synchronization fails after `effect` took place.
    private func failedSave(on disk: SimulatedDisk, _ effect: DiskFault.Effect) throws -> StorageError {
        let failing = FailingDisk(over: disk)
        let container = try container(on: failing)
        let context = ModelContext(container)
        context.insert(Label("first"))
        try context.save()
        failing.arm(DiskFault(effect: effect) { $0.site == "log.commit" })
        context.insert(Label("second"))
        let error = #expect(throws: StorageError.self) { try context.save() }
        try container.close()
        return try #require(error)
    }

    @Test func aSaveWhoseOutcomeIsUnknownIsFoundByItsIdentifier() throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let error = try failedSave(on: disk, .takesPlace)
        #expect(error.code == .outcomeUnknown)
        let transaction = try #require(error.transaction)
        // As a service does that keeps the text.
        let kept = try #require(TransactionIdentifier(transaction.description))

        let again = try container(on: disk.afterProcessDeath())
        #expect(try again.transactionLanded(kept))
        #expect(try ModelContext(again).fetchCount(FetchDescriptor<Label>()) == 2)
        try again.close()
    }

    @Test func aSaveThatWasLostIsNotFound() throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let error = try failedSave(on: disk, .losesPages(.revertsToOldBytes, seed: nil))
        let transaction = try #require(error.transaction)

        let again = try container(on: disk.afterProcessDeath())
        #expect(try !again.transactionLanded(transaction))
        #expect(try ModelContext(again).fetchCount(FetchDescriptor<Label>()) == 1)
        try again.close()
    }

    @Test func aSaveThatIsRefusedHasNoIdentifier() throws {
        let failing = FailingDisk(over: SimulatedDisk(directories: ["/s"]))
        let container = try container(on: failing)
        let context = ModelContext(container)
        failing.arm(DiskFault { $0.site == "log.commit" })
        context.insert(Label("first"))
        #expect(throws: StorageError.self) { try context.save() }
        let error = #expect(throws: StorageError.self) { try context.save() }
        #expect(error?.code == .writingStopped)
        #expect(error?.transaction == nil)
        try container.close()
    }

    @Test func readsItsTextAndNoOther() throws {
        let text = "00112233445566778899aabbccddeeff"
        let identifier = try #require(TransactionIdentifier(text))
        #expect(identifier.description == text)
        #expect(TransactionIdentifier(String(text.dropLast())) == nil)
        #expect(TransactionIdentifier(text.replacing("f", with: "g")) == nil)
        let encoded = try JSONEncoder().encode([identifier])
        #expect(String(decoding: encoded, as: UTF8.self) == "[\"\(text)\"]")
        #expect(try JSONDecoder().decode([TransactionIdentifier].self, from: encoded) == [identifier])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([TransactionIdentifier].self, from: Data("[\"\"]".utf8))
        }
    }

    @Test func whatWasWaitedForSurvivesAPowerCut() async throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let container = try container(on: disk, .async)
        func save(_ name: String) throws {
            let context = ModelContext(container)
            context.insert(Label(name))
            try context.save()
        }
        func waitBlocking() throws { try container.synchronize() }
        // Opening the store saves the catalog.
        try waitBlocking()
        try save("first")
        #expect(try labelCount(on: disk.withOnlyWhatIsDurable()) == 0)
        try waitBlocking()
        #expect(try labelCount(on: disk.withOnlyWhatIsDurable()) == 1)
        try save("second")
        #expect(try labelCount(on: disk.withOnlyWhatIsDurable()) == 1)
        try await container.synchronize()
        #expect(try labelCount(on: disk.withOnlyWhatIsDurable()) == 2)

        // One synchronization is enough for all.
        let count = disk.synchronizationCounts["log.commit"] ?? 0
        try save("third")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await container.synchronize() } }
            try await group.waitForAll()
        }
        #expect(disk.synchronizationCounts["log.commit"] == count + 1)
        try container.close()
    }

    @Test func waitingSaysThatTheDiskFailed() async throws {
        let failing = FailingDisk(over: SimulatedDisk(directories: ["/s"]))
        let container = try container(on: failing, .async)
        let context = ModelContext(container)
        context.insert(Label("first"))
        try context.save()
        failing.arm(DiskFault { $0.site == "log.commit" })
        let error = await #expect(throws: StorageError.self) { try await container.synchronize() }
        #expect(error?.code == .outcomeUnknown)
        try container.close()
    }
}
