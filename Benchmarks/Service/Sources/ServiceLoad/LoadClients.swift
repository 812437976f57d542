import BenchmarkKit
import NIOCore
import NIOHTTP1
import NIOPosix

/// A number of connections to one service, all on one thread.
struct LoadClients {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let connectionCount: Int

    /// Runs a source on every connection until it ends.
    func run(port: Int, seed: UInt64, _ source: @escaping LoadConnection.Source) async throws -> ConnectionResult {
        var results: [EventLoopFuture<ConnectionResult>] = []
        for number in 0..<connectionCount {
            let ended = group.any().makePromise(of: ConnectionResult.self)
            results.append(ended.futureResult)
            let connected = ClientBootstrap(group: group)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.addHTTPClientHandlers()
                        try pipeline.addHandler(
                            LoadConnection(source, seed: seed &* 1_000 &+ UInt64(number), ended: ended))
                    }
                }
                .connect(host: "127.0.0.1", port: port)
            connected.whenFailure { ended.fail($0) }
        }
        var sum = ConnectionResult()
        for result in results {
            let result = try await result.get()
            sum.nanoseconds += result.nanoseconds
            sum.refusals.merge(result.refusals, uniquingKeysWith: +)
            sum.identifiers.merge(result.identifiers) { first, _ in first }
        }
        return sum
    }
}
