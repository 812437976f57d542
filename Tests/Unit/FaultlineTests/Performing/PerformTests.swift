import Faultline
import FaultlineDisk
import FaultlineObjects
import Foundation
import Synchronization
import Testing

/// `perform`: threads, order, priority, cancellation, deadlines.
@Suite(.timeLimit(.minutes(5))) struct PerformTests {
    /// The numbers of calls in the order in which their code ran.
    private final class Order: Sendable {
        private let numbers = Guarded<[Int]>([])
        var all: [Int] { numbers.withLock { $0 } }
        func note(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    /// Begins a call that holds a thread until the barrier opens.
    private func hold(_ store: PerformingStore, _ barrier: Barrier) async throws -> Task<Void, any Error> {
        let (container, count) = (store.container, barrier.waitingCount)
        let task = Task { try await container.perform { _ in barrier.wait() } }
        while barrier.waitingCount == count { try await Task.sleep(for: .milliseconds(1)) }
        return task
    }

    /// The threads of the system that have the name of the store's threads.
    private func threadCount(_ store: PerformingStore) throws -> Int {
        let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        return tasks.count { task in
            let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
            return name?.dropLast() == store.container.performing.pool.threadName[...]
        }
    }

    @Test func `thousands of calls in flight make no thread more`() async throws {
        let store = try PerformingStore(threads: 3)
        let (container, barrier) = (store.container, Barrier())
        let calls = Task {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<5_000 {
                    group.addTask {
                        try await container.perform { context in
                            barrier.wait()
                            return try context.fetchCount(FetchDescriptor<Folder>()) + number
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
        }
        try await store.wait { $0.underWay == 3 && $0.queued == 4_997 }
        while barrier.waitingCount < 3 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(try threadCount(store) == 3)
        #expect(store.counts.threads == 3)
        barrier.open()
        #expect(try await calls.value == 4_999 * 2_500)
        #expect(try threadCount(store) <= 3)
        #expect(store.counts.queued == 0 && store.counts.underWay == 0)
    }

    @Test func `a call is served in the order of arrival, and an urgent one first`() async throws {
        let store = try PerformingStore(threads: 1)
        let (container, barrier, order) = (store.container, Barrier(), Order())
        var tasks = [try await hold(store, barrier)]
        for number in 0..<9 {
            let priority: TaskPriority = number % 3 == 2 ? .high : number % 3 == 1 ? .medium : .low
            tasks.append(
                Task.detached(priority: priority) { try await container.perform { _ in order.note(number) } })
            try await store.wait { $0.queued == number + 1 }
        }
        barrier.open()
        // A task that is waited for would get a higher priority.
        try await store.wait { $0.queued == 0 && $0.underWay == 0 }
        #expect(order.all == [2, 5, 8, 1, 4, 7, 0, 3, 6])
        for task in tasks { try await task.value }
    }

    @Test func `a cancelled call leaves the queue at once`() async throws {
        let store = try PerformingStore(threads: 1)
        let (container, barrier, order) = (store.container, Barrier(), Order())
        let first = try await hold(store, barrier)
        let second = Task { try await container.perform { _ in order.note(2) } }
        let third = Task { try await container.perform { _ in order.note(3) } }
        try await store.wait { $0.queued == 2 }
        second.cancel()
        // Neither the call's turn nor a free thread is needed.
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(store.counts.queued == 1)
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        #expect(store.counts.queued == 0 && store.counts.underWay == 1)
        barrier.open()
        try await first.value
        #expect(order.all.isEmpty)
        try await store.wait { $0.underWay == 0 }
    }

    @Test func `beyond the limit calls wait for a place in the order of their arrival`() async throws {
        let store = try PerformingStore(threads: 1, queueLimit: 2)
        let (container, barrier, order) = (store.container, Barrier(), Order())
        var tasks = [try await hold(store, barrier)]
        for number in 0..<6 {
            tasks.append(
                Task.detached(priority: number == 5 ? .high : .medium) {
                    try await container.perform { _ in order.note(number) }
                })
            try await store.wait { $0.queued + $0.overflow == number + 1 }
        }
        #expect(store.counts.queued == 2 && store.counts.overflow == 4)
        tasks[4].cancel()
        try await store.wait { $0.overflow == 3 }
        tasks[1].cancel()
        try await store.wait { $0.overflow == 2 && $0.queued == 2 }
        barrier.open()
        try await store.wait { $0.queued + $0.overflow + $0.underWay == 0 }
        // 0 and 3 were cancelled. The urgent 5 overtakes 4 alone: it entered when 2 began.
        #expect(order.all == [1, 2, 5, 4])
        for task in tasks { _ = await task.result }
    }

    @Test func `a call that waits too long is told that the store is busy`() async throws {
        let store = try PerformingStore(threads: 1, longestWait: .milliseconds(20))
        let (container, barrier, order) = (store.container, Barrier(), Order())
        try await container.perform(waitingAtMost: .zero) { _ in order.note(1) }
        let first = try await hold(store, barrier)
        let outcomes = [
            Task { try await container.perform { _ in order.note(2) } },
            Task { try await container.perform(waitingAtMost: .zero) { _ in order.note(3) } },
            Task { try await container.perform(waitingAtMost: .seconds(50)) { _ in order.note(4) } },
        ]
        for task in outcomes[..<2] {
            let error = await #expect(throws: StorageError.self) { try await task.value }
            #expect(error?.code == .busy)
            #expect(error?.message.contains("StoreOptions.performing") == true)
        }
        try await store.wait { $0.queued == 1 }
        #expect(order.all == [1])
        barrier.open()
        try await outcomes[2].value
        try await first.value
        #expect(order.all == [1, 4])
    }

    // MARK: Calls in calls

    @Test func `a call in the code of a call runs before the calls that wait`() async throws {
        let store = try PerformingStore(threads: 1)
        let (container, order) = (store.container, Order())
        let outer = Task {
            try await container.perform { context in
                let task = Task.detached { try await container.perform { _ in order.note(9) } }
                // Keeps the thread: a suspended call would let the other one begin.
                while store.counts.queued == 0 { usleep(1_000) }
                order.note(1)
                try await container.perform { _ in order.note(2) }
                try await container.perform { inner in
                    try await inner.save()
                    try await container.perform { _ in order.note(3) }
                }
                async let child: Void = container.perform { _ in order.note(4) }
                try await child
                #expect(store.counts.queued == 1 && store.counts.underWay == 1)
                return task
            }
        }
        try await outer.value.value
        #expect(order.all == [1, 2, 3, 4, 9])
        #expect(try threadCount(store) <= 1)
    }

    @Test func `code that blocks its thread for a call does not wait for itself`() async throws {
        let store = try PerformingStore(threads: 1)
        let (container, order) = (store.container, Order())
        try await container.perform { _ in
            let isOver = DispatchSemaphore(value: 0)
            Task {
                try await container.perform { _ in order.note(1) }
                isOver.signal()
            }
            isOver.wait()
        }
        #expect(order.all == [1])
    }

    @Test func `a task that outlives the call that made it waits for its turn`() async throws {
        let store = try PerformingStore(threads: 1)
        let (container, order) = (store.container, Order())
        let (goOn, later) = (Barrier(), Barrier())
        let task = try await container.perform { _ in
            Task {
                while later.waitingCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
                try await container.perform { _ in order.note(1) }
            }
        }
        let holder = try await hold(store, goOn)
        Thread.detachNewThread { later.wait() }
        try await store.wait { $0.queued == 1 }
        #expect(order.all.isEmpty)
        goOn.open()
        later.open()
        try await task.value
        try await holder.value
    }

    // MARK: Closing

    @Test func `closing the container ends the calls that wait`() async throws {
        let store = try PerformingStore(threads: 1, queueLimit: 2)
        let (container, barrier, order) = (store.container, Barrier(), Order())
        let first = try await hold(store, barrier)
        let waiting = (0..<4).map { number in Task { try await container.perform { _ in order.note(number) } } }
        try await store.wait { $0.queued + $0.overflow == 4 }
        try container.close()
        #expect(store.counts.queued + store.counts.overflow == 0)
        barrier.open()
        try await first.value
        for task in waiting {
            let error = await #expect(throws: StorageError.self) { try await task.value }
            #expect(error?.code == .closed)
        }
        let error = await #expect(throws: StorageError.self) { try await container.perform { _ in order.note(9) } }
        #expect(error?.code == .closed)
        #expect(order.all.isEmpty)
        try await store.wait { $0.threads == 0 }
    }

    @Test func `closing the container lets a suspended save end`() async throws {
        let store = try PerformingStore(threads: 2)
        let container = store.container
        store.disk.close()
        let saves = (0..<4).map { number in
            Task {
                try await container.perform { context in
                    context.insert(Folder("\(number)"))
                    try await context.save()
                }
            }
        }
        try await store.wait { $0.underWay == 4 && $0.idleThreads == $0.threads }
        let closing = Task.detached { try container.close() }
        while container.health.status != .failed { try await Task.sleep(for: .milliseconds(1)) }
        store.disk.open()
        for save in saves { try await save.value }
        try await closing.value
        let reopened = try StoreDisk.$current.withValue(store.disk) {
            try ModelContainer(for: Folder.self, configurations: ModelConfiguration(url: URL(filePath: "/performing")))
        }
        #expect(try ModelContext(reopened).fetchCount(FetchDescriptor<Folder>()) == 4)
    }

    @Test func `the threads of a container that is gone end`() async throws {
        var store: PerformingStore? = try PerformingStore(threads: 2)
        let pool = try #require(store?.container.performing.pool)
        try await store?.container.perform { _ in }
        store = nil
        while pool.counts.threads > 0 { try await Task.sleep(for: .milliseconds(1)) }
    }
}
