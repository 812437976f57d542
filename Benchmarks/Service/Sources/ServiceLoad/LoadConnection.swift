import BenchmarkKit
import NIOCore
import NIOHTTP1

/// A client on one connection: it sends a request when the one before is answered, until there is none.
final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart
    /// Returns the next request; nil at the end.
    typealias Source = @Sendable (inout SplitMix64) -> LoadRequest?

    private let source: Source
    private let ended: EventLoopPromise<ConnectionResult>
    private var random: SplitMix64
    private var result = ConnectionResult()
    private var request: LoadRequest?
    private var sentAt: UInt64 = 0
    private var status: UInt = 0
    private var body: [UInt8] = []

    init(_ source: @escaping Source, seed: UInt64, ended: EventLoopPromise<ConnectionResult>) {
        self.source = source
        self.ended = ended
        random = SplitMix64(seed)
    }

    func channelActive(context: ChannelHandlerContext) { send(context) }

    func channelInactive(context: ChannelHandlerContext) {
        guard request != nil else { return }
        ended.fail(BenchmarkError(.wrongResult, "the service closed a connection before it answered"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        request = nil
        ended.fail(error)
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = head.status.code
        case .body(let buffer): if request?.number != nil { body += buffer.readableBytesView }
        case .end:
            result.nanoseconds.append(ProcessFigures.wallNanoseconds() - sentAt)
            if !(200..<300).contains(status) { result.refusals[status, default: 0] += 1 }
            if let number = request?.number { result.identifiers[number] = identifier() }
            send(context)
        }
    }

    private func send(_ context: ChannelHandlerContext) {
        request = source(&random)
        guard let request else {
            ended.succeed(result)
            context.close(promise: nil)
            return
        }
        body.removeAll(keepingCapacity: true)
        var headers = HTTPHeaders([("host", "localhost")])
        if let text = request.body {
            headers.add(name: "content-type", value: "application/json")
            headers.add(name: "content-length", value: String(text.utf8.count))
        }
        let head = HTTPRequestHead(
            version: .http1_1, method: request.method == .get ? .GET : .POST, uri: request.path, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let text = request.body {
            let buffer = context.channel.allocator.buffer(string: text)
            context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
        }
        sentAt = ProcessFigures.wallNanoseconds()
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// The value of `"id":"…"` in the body.
    private func identifier() -> String? {
        let key = Array(#""id":""#.utf8)
        guard let start = body.firstRange(of: key)?.upperBound, let end = body[start...].firstIndex(of: 0x22) else {
            return nil
        }
        return String(decoding: body[start..<end], as: UTF8.self)
    }
}
