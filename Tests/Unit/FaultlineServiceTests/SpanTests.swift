#if Service
import CoreMetrics
import FaultlineService
import InMemoryTracing
import MetricsTestKit
import Testing
import Tracing

/// Spans and metrics of a service.
@Suite(.timeLimit(.minutes(2))) struct SpanTests {
    private struct Refused: Error {}

    private let store = ServiceStore()

    @Test func `opening, migration, stages, calls and closing are spans`() async throws {
        try store.makeOld()
        let tracer = InMemoryTracer()
        let service = store.service()
        try await withTracer(tracer) {
            try await service.serve { _ in
                _ = try await service.add(-1)
                try await service.perform("empty") { _ in withSpan("inner") { _ in } }
                await #expect(throws: Refused.self) { try await service.perform("refused") { _ in throw Refused() } }
            }
        }
        #expect(tracer.activeSpans.isEmpty)
        let spans = tracer.finishedSpans
        func span(_ name: String, _ operation: String? = nil) throws -> FinishedInMemorySpan {
            let found = spans.filter {
                $0.operationName == name && $0.attributes.get("db.operation.name")?.text == operation
            }
            #expect(found.count == 1, "\(name)")
            return try #require(found.first)
        }
        let open = try span("faultline.open")
        let migration = try span("faultline.migrate")
        let stage = try span("faultline.migrate.stage")
        #expect(migration.parentSpanID == open.spanID && stage.parentSpanID == migration.spanID)
        #expect(stage.attributes.get("faultline.stage.kind")?.text == "streamed")
        #expect(stage.attributes.get("faultline.stage.from")?.text == "1.0.0")
        #expect(stage.attributes.get("faultline.stage.to")?.text == "2.0.0")
        #expect(stage.attributes.get("faultline.stage.objects_read") == .int64(Int64(ServiceStore.count)))
        let add = try span("faultline.perform", "add item")
        #expect(add.attributes.get("db.system.name")?.text == "faultline")
        #expect(add.attributes.get("db.namespace")?.text == "shop")
        #expect(add.errors.isEmpty)
        #expect(try span("inner").parentSpanID == span("faultline.perform", "empty").spanID)
        let refused = try span("faultline.perform", "refused")
        #expect(refused.errors.count == 1 && refused.errors.first?.error is Refused)
        #expect(refused.status?.code == .error)
        #expect(try span("faultline.close").errors.isEmpty)
        #expect(spans.count == 8)
    }

    @Test func `a migration that is cancelled ends its spans with an error`() async throws {
        try store.makeOld()
        let tracer = InMemoryTracer()
        let service = store.service()
        await withTracer(tracer) {
            await StageGate.$current.withValue(StageGate(.cancelTask)) {
                _ = await #expect(throws: MigrationError.self) { try await service.run() }
            }
        }
        #expect(tracer.activeSpans.isEmpty)
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["faultline.migrate.stage", "faultline.migrate", "faultline.open"])
        #expect(spans.allSatisfy { $0.status?.code == .error })
        #expect(spans.map(\.errors.count) == [0, 1, 1])
    }

    @Test func `a gauge says whether the store is ready`() async throws {
        let metrics = TestMetrics()
        let service = store.service { $0.reporting.metrics = StoreReporting.Metrics(factory: metrics) }
        let gauge = try metrics.expectGauge("faultline_ready", [("store", "shop")])
        #expect(gauge.lastValue == 0)
        try await service.serve { _ in
            _ = try await service.add(1)
            #expect(gauge.lastValue == 1)
        }
        #expect(gauge.lastValue == 0)
        #expect(gauge.values == [0, 1, 0, 0])
        // The store's own metrics need no line either.
        #expect(try metrics.expectCounter("faultline_commits", [("store", "shop")]).totalValue > 0)
    }
}

extension SpanAttribute {
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
#endif
