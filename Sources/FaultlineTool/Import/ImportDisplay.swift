#if Import
import FaultlineCommands
import FaultlineDisk
import FaultlineImport
import Synchronization

/// The progress of an import, as a line on the terminal.
final class ImportDisplay: Sendable {
    private struct State {
        var phase: ImportProgress.Phase?
        var line: ProgressLine?
    }

    private let state = Guarded(State())

    func show(_ progress: ImportProgress) {
        state.withLock { state in
            if state.phase != progress.phase {
                state.line?.finish()
                state.line = ProgressLine(progress.phase.rawValue, unit: progress.phase == .links ? "links" : "objects")
                state.phase = progress.phase
            }
            state.line?.update(progress.count)
        }
    }

    /// Removes the line.
    func finish() { state.withLock { $0.line?.finish() } }
}

extension ImportError {
    /// Whether the source is no store that can be opened, which has a status of its own.
    var opensNothing: Bool {
        switch code {
        case .notAStore, .newer, .damaged, .unreadable: true
        case .modelMismatch, .occupied, .changed, .unwritable: false
        }
    }
}
#endif
