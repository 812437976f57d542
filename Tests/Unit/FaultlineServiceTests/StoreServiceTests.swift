#if Service
import FaultlineService
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

/// A service from its start to its end.
@Suite(.timeLimit(.minutes(2))) struct StoreServiceTests {
    private let store = ServiceStore()

    @Test func `a service is ready once its store is open, and closed after the shutdown`() async throws {
        let service = store.service()
        #expect(service.health.status == .starting)
        #expect(service.health.statusCode == 503)
        try await service.serve { _ in
            let count = try await service.add(1)
            #expect(count == 1)
            let health = service.health
            #expect(health.status == .ready && health.isReady && health.isLive && health.statusCode == 200)
            #expect(health.store?.status == .healthy)
            #expect(try await service.container.health.isReady)
        }
        #expect(service.health.status == .closed)
        #expect(service.health.statusCode == 503)
        #expect(await storageCode { _ = try await service.add(2) } == .closed)
        #expect(await storageCode { _ = try await service.container } == .closed)
        #expect(try store.labels() == ["NEW"])
    }

    @Test func `a service says how far the migration is`() async throws {
        try store.makeOld()
        let service = store.service()
        let gate = StageGate(at: 150, .wait)
        try await StageGate.$current.withValue(gate) {
            try await service.serve { _ in
                await gate.arrival()
                let health = service.health
                gate.open()
                #expect(health.status == .migrating && !health.isReady && health.isLive && health.statusCode == 503)
                #expect(health.migration?.from == "1.0.0" && health.migration?.to == "2.0.0")
                #expect(health.migration?.stage == 1 && health.migration?.stageCount == 1)
                #expect(health.migration?.entity == "Item" && health.migration?.objectCount == ServiceStore.count)
                let text = try JSONEncoder().encode(health)
                #expect(try JSONDecoder().decode(StoreService.Health.self, from: text) == health)
                #expect(String(decoding: text, as: UTF8.self).contains("\"status\":\"migrating\""))
                #expect(try await service.container.migrationReport.objectsRead == ServiceStore.count)
            }
        }
        #expect(try store.labels() == ServiceStore.labels)
    }

    @Test func `a shutdown lets calls end and refuses later ones`() async throws {
        let service = store.service()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        try await service.serve { trigger in
            async let count = service.perform("slow") { context in
                context.insert(Shop2.Item(number: 1, label: "SLOW"))
                begin.yield()
                for await _ in ends { break }
                try await context.save()
                return try context.fetchCount(FetchDescriptor<Shop2.Item>())
            }
            for await _ in begun { break }
            trigger.triggerGracefulShutdown()
            try await service.reaches(.closing)
            #expect(await storageCode { _ = try await service.add(2) } == .closed)
            try await Task.sleep(for: .milliseconds(50))
            #expect(service.health.status == .closing)
            end.yield()
            #expect(try await count == 1)
        }
        #expect(service.health.status == .closed)
        #expect(try store.labels() == ["SLOW"])
    }

    @Test func `a cancelled service closes its store at once`() async throws {
        let service = store.service()
        let running = Task { try await service.run() }
        _ = try await service.add(1)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let call = Task {
            try await service.perform("slow") { context in
                context.insert(Shop2.Item(number: 2, label: "LATE"))
                begin.yield()
                for await _ in ends { break }
                try await context.save()
            }
        }
        for await _ in begun { break }
        running.cancel()
        try await running.value
        #expect(service.health.status == .closed)
        end.yield()
        #expect(await storageCode { try await call.value } == .closed)
        #expect(try store.labels() == ["NEW"])
    }

    @Test func `an opening that fails is thrown to all and stays in the health`() async throws {
        try store.makeOld()
        let service = StoreService(for: Schema(versionedSchema: Shop2.self), configuration: store.configuration)
        let waiting = Task { try await service.container }
        while service.waiterCount == 0 { await Task.yield() }
        let error = await #expect(throws: MigrationError.self) { try await service.run() }
        #expect(service.health.status == .failed && !service.health.isLive && service.health.statusCode == 503)
        let message = try #require(error?.description)
        #expect(service.health.failure == message)
        let first = await #expect(throws: MigrationError.self) { try await waiting.value }
        let later = await #expect(throws: MigrationError.self) { try await service.add(1) }
        #expect(first?.code == error?.code && later?.code == error?.code)
    }

    @Test(arguments: [true, false])
    func `a migration that is cut off is continued by the next opening`(byShutdown: Bool) async throws {
        try store.makeOld()
        let control = MigrationControl()
        let service = store.service { $0.migration.control = control }
        let gate = StageGate(byShutdown ? .waitForCancellation(control) : .cancelTask)
        try await StageGate.$current.withValue(gate) {
            let waiting = Task { try await service.container }
            if byShutdown {
                try await service.serve { trigger in
                    await gate.arrival()
                    trigger.triggerGracefulShutdown()
                }
                #expect(service.health.status == .closed)
                #expect(await storageCode { _ = try await waiting.value } == .closed)
            } else {
                let error = await #expect(throws: MigrationError.self) { try await service.run() }
                #expect(error?.code == .cancelled)
                #expect(service.health.status == .failed)
                let other = await #expect(throws: MigrationError.self) { try await waiting.value }
                #expect(other?.code == .cancelled)
            }
        }
        #expect(gate.seen.count < ServiceStore.count)
        let rest = StageGate()
        let next = store.service()
        try await StageGate.$current.withValue(rest) {
            try await next.serve { _ in
                let report = try await next.container.migrationReport
                #expect(report.resumes == 1)
            }
        }
        #expect(rest.seen.first == (gate.seen.last ?? 0) + 1)
        #expect(try store.labels() == ServiceStore.labels)
    }

    @Test func `a service runs once`() async throws {
        let service = store.service()
        try await service.serve { _ in
            _ = try await service.container
            let error = await #expect(throws: StoreServiceError.self) { try await service.run() }
            #expect(error?.code == .alreadyRun)
            #expect(service.health.status == .ready)
        }
        await #expect(throws: StoreServiceError.self) { try await service.run() }
        #expect(service.health.status == .closed)
    }
}
#endif
