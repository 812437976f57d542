#if Service
internal import FaultlineDisk
internal import FaultlineMigration
internal import Synchronization
internal import Tracing

/// The spans of a migration and of its stages, begun and ended by the events of an opening.
///
/// Events arrive in the task that opens the store, so that its span is the parent.
final class MigrationSpans: Sendable {
    private struct State {
        var migration: (any Span)?
        var stage: (any Span)?
    }

    private let store: String
    private let state = Guarded(State())

    /// - Parameter store: The name of the store.
    init(_ store: String) { self.store = store }

    func take(_ event: MigrationEvent) {
        switch event {
        case .began(let versions, let isResumed): begin(versions, isResumed)
        case .stageBegan(let stage): begin(stage)
        case .stageEnded(_, let figures): endStage(figures, isStopped: false)
        case .stageStopped(_, let figures): endStage(figures, isStopped: true)
        case .ended: end(nil)
        case .failed(let error, _): end(error)
        }
    }

    private func begin(_ versions: [String], _ isResumed: Bool) {
        let span = StoreSpan.migrate.begin(store)
        span.updateAttributes { attributes in
            attributes["faultline.migration.versions"] = versions.joined(separator: " → ")
            attributes["faultline.migration.resumed"] = isResumed
        }
        state.withLock { $0.migration = span }
    }

    private func begin(_ begun: MigrationEvent.Stage) {
        let span = StoreSpan.stage.begin(store, in: state.withLock { $0.migration })
        span.updateAttributes { attributes in
            attributes["faultline.stage.from"] = begun.stage.from
            attributes["faultline.stage.to"] = begun.stage.to
            attributes["faultline.stage.kind"] = begun.kind.rawValue
            attributes["faultline.stage.resumed"] = begun.isResumed
        }
        state.withLock { $0.stage = span }
    }

    private func endStage(_ figures: MigrationEvent.Figures, isStopped: Bool) {
        let span = state.withLock { state in
            defer { state.stage = nil }
            return state.stage
        }
        guard let span else { return }
        span.updateAttributes { attributes in
            attributes["faultline.stage.objects_read"] = Int64(figures.objectsRead)
            attributes["faultline.stage.objects_written"] = Int64(figures.objectsWritten)
            attributes["faultline.stage.bytes_written"] = Int64(figures.bytesWritten)
        }
        if isStopped { span.setStatus(SpanStatus(code: .error, message: "The stage failed, or was cancelled.")) }
        span.end()
    }

    /// - Parameter error: Why the migration failed; nil if it has not.
    private func end(_ error: (any Error)?) {
        let span = state.withLock { state in
            defer { state.migration = nil }
            return state.migration
        }
        if let error {
            span?.recordError(error)
            span?.setStatus(SpanStatus(code: .error))
        }
        span?.end()
    }
}
#endif
