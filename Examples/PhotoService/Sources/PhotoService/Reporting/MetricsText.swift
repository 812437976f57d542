import CoreMetrics
import Synchronization

/// Collects the metrics of this process, and prints them in the text format of Prometheus.
final class MetricsText: MetricsFactory {
    private let series = Mutex<[Series.Name: Series]>([:])

    /// All metrics, a line each.
    var text: String {
        let all = series.withLock { $0.values.sorted { $0.name < $1.name } }
        return all.map(\.text).joined()
    }

    private func series(_ label: String, _ dimensions: [(String, String)]) -> Series {
        let name = Series.Name(label: label, dimensions: dimensions)
        return series.withLock { all in
            if let known = all[name] { return known }
            let made = Series(name)
            all[name] = made
            return made
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { series(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(label, dimensions)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { series(label, dimensions) }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
