package import Faultline
import FaultlineDisk
import Synchronization

/// The progress of a migration, as a line on the terminal.
package final class MigrationDisplay: Sendable {
    private struct State {
        var shown: (pass: MigrationPass, stage: MigrationProgress.Stage?, entity: String)?
        var line: ProgressLine?
    }

    private let state = Guarded(State())

    package init() {}

    /// Shows a progress; call it with each one.
    package func show(_ progress: MigrationProgress) {
        state.withLock { state in
            let isShown = state.shown.map {
                $0.pass == progress.pass && $0.stage == progress.stage && $0.entity == progress.entity
            }
            if isShown != true {
                state.line?.finish()
                state.line = ProgressLine(
                    Self.label(progress.pass, of: progress.mapping ?? progress.entity, progress.stage),
                    total: progress.total, unit: "objects")
                state.shown = (progress.pass, progress.stage, progress.entity)
            }
            state.line?.update(progress.done)
        }
    }

    /// Removes the line.
    package func finish() { state.withLock { $0.line?.finish() } }

    /// The current work, in a few words.
    package static func label(
        _ pass: MigrationPass, of name: String, _ stage: MigrationProgress.Stage?
    ) -> String {
        var parts = [pass.rawValue]
        if !name.isEmpty { parts.append(name) }
        if let stage {
            parts.append(
                "(to \(stage.to)" + (stage.count > 1 ? ", \(stage.place) of \(stage.count)" : "")
                    + (stage.isRestarted ? ", begun again)" : ")"))
        }
        return parts.joined(separator: " ")
    }
}
