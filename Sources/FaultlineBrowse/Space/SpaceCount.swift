import Faultline
import FaultlineCommands
import FaultlineDisk
import FaultlineLog
import FaultlineStore
import Synchronization

/// The space that entities and segments take, counted on a thread of its own: it reads every row.
// Safe because mutable state is guarded.
final class SpaceCount: @unchecked Sendable {
    /// The result of a count.
    struct Result {
        let sequence: UInt64
        let usage: LogUsage
        let entities: [EntitySpace]
    }

    /// How far the count is.
    enum Progress {
        case counting(done: Int, total: Int)
        case done(Result)
        case failed(String)
    }

    private struct State {
        var isRunning = false
        var progress: Progress?
    }

    private let state = Guarded(State())

    /// The progress of the newest count; begins one where there is none of this state.
    func progress(_ view: StoreView) -> Progress {
        let (progress, begins) = state.withLock { state -> (Progress, Bool) in
            if state.isRunning { return (state.progress ?? .counting(done: 0, total: 0), false) }
            if case .done(let result)? = state.progress, result.sequence == view.snapshot.sequence {
                return (.done(result), false)
            }
            state.isRunning = true
            let total = view.rows.storage.entities.reduce(0) { $0 + view.snapshot.recordCount(of: $1.table) }
            state.progress = .counting(done: 0, total: total)
            return (.counting(done: 0, total: total), true)
        }
        if begins {
            let thread = SystemThread { self.count(view) }
            guard let thread else {
                state.withLock { $0 = State(progress: .failed("The system refuses another thread. Try again.")) }
                return .failed("The system refuses another thread. Try again.")
            }
            thread.detach()
        }
        return progress
    }

    private func count(_ view: StoreView) {
        let storages = view.rows.storage.entities
        let total = storages.reduce(0) { $0 + view.snapshot.recordCount(of: $1.table) }
        var done = 0
        let progress: Progress
        do {
            let usage = try view.rows.log.usage()
            let entities = try storages.map { storage in
                let space = try EntitySpace(storage, of: view.rows, in: view.snapshot) { count in
                    state.withLock { $0.progress = .counting(done: done + count, total: total) }
                }
                done += space.objectCount
                return space
            }
            progress = .done(Result(sequence: view.snapshot.sequence, usage: usage, entities: entities))
        } catch { progress = .failed(CommandFailure.sentence(for: error)) }
        state.withLock { $0 = State(isRunning: false, progress: progress) }
    }
}
