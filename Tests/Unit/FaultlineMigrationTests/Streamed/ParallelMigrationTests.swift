import Dispatch
import Faultline
import FaultlineDisk
import FaultlineMigration
import Foundation
import Synchronization
import Testing

/// Migrations of several stores by one plan, at the same time.
struct ParallelMigrationTests {
    /// The closures of a plan once ran on the threads of several tests and appended to one array, because all tests
    /// without notes of their own shared one instance.
    @Test("A14: migrations on several threads share no notes")
    func migrationsShareNothing() throws {
        let failures = Guarded<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            do {
                let stores = Stores()
                try WorkStore.make(in: stores)
                try stores.use(Work2.self, WorkPlan.self) { _, context in try WorkStore.check(context) }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
    }
}
