#if Service
import FaultlineService
import Testing

/// Tasks that wait until the store is open.
@Suite(.timeLimit(.minutes(2))) struct WaitingTests {
    private let store = ServiceStore()

    @Test func `waiting tasks get the container`() async throws {
        let service = store.service()
        let waiting = (0..<20).map { _ in Task { try await service.container } }
        while service.waiterCount < 20 { await Task.yield() }
        try await service.serve { _ in
            let container = try await service.container
            for task in waiting { #expect(try await task.value == container) }
        }
        #expect(service.waiterCount == 0)
    }

    @Test func `a cancelled task stops waiting at once`() async throws {
        let service = store.service()
        let waiting = Task { try await service.container }
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await service.container
        }
        while service.waiterCount == 0 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(service.waiterCount == 0)
    }

    @Test func `cancellations and the opening do not lose a task`() async throws {
        for _ in 0..<20 {
            let service = ServiceStore().service()
            let waiting = (0..<50).map { _ in Task { try await service.container } }
            try await service.serve { _ in
                for task in waiting[..<25] { task.cancel() }
                _ = try await service.container
                for task in waiting[25...] { _ = try await task.value }
                for task in waiting[..<25] { _ = await task.result }
            }
            #expect(service.waiterCount == 0)
        }
    }

    @Test func `a call that waits too long for the opening is refused`() async throws {
        let service = store.service { $0.performing.longestWait = .milliseconds(20) }
        #expect(await storageCode { _ = try await service.add(1) } == .busy)
        let other = store.service()
        let code = await storageCode { try await other.perform(waitingAtMost: .zero) { _ in } }
        #expect(code == .busy)
        #expect(service.waiterCount == 0 && other.waiterCount == 0)
        try await service.serve { _ in
            _ = try await service.container
            #expect(try await service.add(1) == 1)
        }
    }
}
#endif
