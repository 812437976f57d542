import BenchmarkKit
import Faultline
import Foundation

/// Times the pages of `faultline browse` on a store of many employees: `pages TOOL STORES [COUNT]`.
///
/// The tool is a process of its own, and each page is fetched by HTTP. Fails if the 99th percentile of a kind of pages
/// is above 100 ms.
struct PageTimes {
    private static let requestCount = 300
    private static let millisecondsMax = 100.0

    private let tool: String
    private let folder: String
    private let count: Int

    /// - Throws: `BenchmarkError.Code.usage`.
    init(_ words: [String]) throws(BenchmarkError) {
        guard (2...3).contains(words.count), let count = words.count == 3 ? Int(words[2]) : 1_000_000, count > 0 else {
            throw BenchmarkError(.usage, "usage: pages TOOL STORES [COUNT]")
        }
        (tool, folder, self.count) = (words[0], words[1], count)
    }

    /// Prints a table of the kinds of pages.
    ///
    /// - Throws: `.wrongResult` after it, with the kinds that are too slow.
    func run() throws {
        let words = ["--workload", "fault-list", "--store", folder, "--n", "\(count)", "--prepare"]
        _ = try ChildProcess("/proc/self/exe", words, readsOutput: true).finish()
        let server = try ChildProcess(
            tool, ["browse", "\(folder)/\(EmployeeStore.full.name)-\(count)"], readsOutput: true)
        let address = try server.line()
        guard let parts = address.firstMatch(of: #/http:\/\/127\.0\.0\.1:([0-9]+)(\/.*)/#), let port = UInt16(parts.1)
        else { throw BenchmarkError(.wrongResult, "\(address) is no address of a server") }
        let client = try PageClient(port: port)
        var rows = [["page", "pages", "p50 ms", "p99 ms", "most ms", "complete after, p50 ms"]]
        var slow: [String] = []
        for kind in PageKind.all {
            let times = try measure(kind, client, base: String(parts.2))
            rows.append([kind.name] + times.cells)
            if times.percentile > Self.millisecondsMax { slow.append(kind.name) }
        }
        try server.kill()
        print("\(count) employees, load \(ProcessFigures.load())\n" + TextTable.aligned(rows), terminator: "")
        guard slow.isEmpty else {
            let names = slow.joined(separator: ", ")
            throw BenchmarkError(.wrongResult, "99 of 100 pages take over \(Self.millisecondsMax) ms: \(names)")
        }
    }

    /// The times of one kind of pages.
    private struct Times {
        var pages = Latencies(capacity: requestCount)
        /// From the first request for a list to the page that has it.
        var complete = Latencies(capacity: requestCount)

        var percentile: Double { (pages.microseconds(atShare: 0.99) ?? 0) / 1_000 }

        var cells: [String] {
            let shares = [0.5, 0.99, 1].map { PageTimes.milliseconds(pages.microseconds(atShare: $0)) }
            return ["\(pages.count)"] + shares + [PageTimes.milliseconds(complete.microseconds(atShare: 0.5))]
        }
    }

    private func measure(_ kind: PageKind, _ client: PageClient, base: String) throws -> Times {
        var times = Times()
        var random = SplitMix64(31)
        var text = ""
        // The first page counts, and a list that is still searched is asked for again, as a browser does.
        while times.pages.count < Self.requestCount {
            let path = base + kind.path(&random, count, text)
            let begin = ProcessFigures.wallNanoseconds()
            repeat {
                let page = try client.page(path)
                times.pages.record(page.nanoseconds)
                text = page.text
            } while text.contains("http-equiv=\"refresh\"")
            times.complete.record(ProcessFigures.wallNanoseconds() - begin)
        }
        return times
    }

    private static func milliseconds(_ microseconds: Double?) -> String {
        String(format: "%.1f", (microseconds ?? 0) / 1_000)
    }
}
