#if Service
internal import Tracing

/// The spans of a service's store, by their names.
enum StoreSpan: String {
    case open = "faultline.open"
    case migrate = "faultline.migrate"
    case stage = "faultline.migrate.stage"
    case perform = "faultline.perform"
    case close = "faultline.close"

    /// Runs code in a span of the task, which records a thrown error.
    ///
    /// - Parameters:
    ///   - store: The name of the store.
    ///   - operation: The name of the call; nil if there is none.
    ///   - body: The code.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`.
    func run<R>(
        _ store: String, operation: String? = nil, _ body: (any Span) async throws -> R
    ) async throws -> R {
        try await withSpan(rawValue, ofKind: .internal) { span in
            Self.describe(span, store, operation)
            return try await body(span)
        }
    }

    /// Begins a span that ends by a call of its own.
    ///
    /// - Parameters:
    ///   - store: The name of the store.
    ///   - parent: The span that it is part of; nil for that of the task.
    /// - Returns: The span, which the caller ends.
    func begin(_ store: String, in parent: (any Span)? = nil) -> any Span {
        let span = parent.map { startSpan(rawValue, context: $0.context) } ?? startSpan(rawValue)
        Self.describe(span, store, nil)
        return span
    }

    /// Names the store, by the attributes that OpenTelemetry has for databases.
    private static func describe(_ span: any Span, _ store: String, _ operation: String?) {
        guard span.isRecording else { return }
        span.updateAttributes { attributes in
            attributes["db.system.name"] = "faultline"
            attributes["db.namespace"] = store
            if let operation { attributes["db.operation.name"] = operation }
        }
    }
}
#endif
