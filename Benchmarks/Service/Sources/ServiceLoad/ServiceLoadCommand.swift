import ArgumentParser
import BenchmarkKit
import Foundation

/// Loads two services in turns, and prints their figures: JSON lines, then a table.
@main struct ServiceLoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "ServiceLoad")

    @Option(help: "The program of the first service.") var faultline: String
    @Option(help: "The program of the second service.") var grdb: String
    @Option(help: "A folder for the stores.") var store: String
    @Option(help: "Rounds; medians count.") var rounds = 3
    @Option(help: "Seconds for each endpoint, service and round.") var seconds = 5.0
    @Option(help: "Connections.") var connections = 64
    @Option(help: "Photos that are stored before.") var photos = 50_000
    @Option(help: "Endpoints, separated by blanks; all by default.") var endpoints = ""

    func validate() throws {
        guard rounds > 0, seconds > 0, (1...10_000).contains(connections), photos > 0 else {
            throw ValidationError("Rounds, seconds, connections (at most 10,000) and photos must be above 0.")
        }
    }

    func run() async throws {
        let chosen = try endpoints.split(separator: " ").map { name in
            guard let endpoint = Endpoint(rawValue: String(name)) else {
                let all = Endpoint.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("There is no endpoint \(name). There are: \(all).")
            }
            return endpoint
        }
        let clients = LoadClients(connectionCount: connections)
        var rows: [LoadRow] = []
        for round in 1...rounds {
            // In turns, and each first in every other round.
            let services = [("faultline", faultline), ("grdb", grdb)]
            for (name, program) in round.isMultiple(of: 2) ? services.reversed() : services {
                rows += try await measure(
                    name, program, round, chosen.isEmpty ? Endpoint.allCases : chosen, clients)
            }
        }
        print("\n" + LoadTable(rows: rows.sorted { $0.service < $1.service }).text)
        let refused = rows.map(\.refusalCount).reduce(0, +)
        guard refused == 0 else { throw BenchmarkError(.wrongResult, "\(refused) requests were refused") }
    }

    private func measure(
        _ name: String, _ program: String, _ round: Int, _ endpoints: [Endpoint], _ clients: LoadClients
    ) async throws -> [LoadRow] {
        let folder = "\(store)/service-\(name)"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
        // The other service refuses no request that waits.
        let arguments = name == "faultline" ? ["--longest-wait", "60"] : []
        let service = try ServiceProcess(program, arguments, store: folder)
        let data = try await PhotoData.make(photoCount: photos, port: service.port, clients)
        var rows: [LoadRow] = []
        for endpoint in endpoints {
            let start = ProcessFigures.wallNanoseconds()
            let end = start + UInt64(seconds * 1e9)
            let result = try await clients.run(port: service.port, seed: UInt64(round)) { random in
                ProcessFigures.wallNanoseconds() < end ? endpoint.request(data, &random) : nil
            }
            let taken = Double(ProcessFigures.wallNanoseconds() - start) / 1e9
            var latencies = Latencies(capacity: result.nanoseconds.count)
            for duration in result.nanoseconds { latencies.record(duration) }
            let figures = try service.figures()
            let row = LoadRow(
                service: name, endpoint: endpoint, clients: connections, round: round, seconds: taken,
                requestCount: result.nanoseconds.count, refusalCount: result.refusals.values.reduce(0, +),
                latencies: latencies, threads: figures.threads, peakKiB: figures.peakKiB)
            FileHandle.standardOutput.write(Data((row.json + "\n").utf8))
            rows.append(row)
        }
        try service.stop()
        try FileManager.default.removeItem(atPath: folder)
        return rows
    }
}
