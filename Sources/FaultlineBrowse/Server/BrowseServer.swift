#if Browse
import FaultlineDisk
import FaultlineLog
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Serves the pages of a store to browsers on this machine.
///
///     try await BrowseServer(site, token: token, port: 0).run { print($0) }
///
/// It listens on the loopback address only. A request needs the token in its path, and a `Host` of this machine, so
/// that no page of another site can read the store through the browser.
package struct BrowseServer: Sendable {
    private static let pieceByteCount = 256 << 10

    private let site: BrowseSite
    private let token: String
    private let port: Int

    /// - Parameters:
    ///   - site: The pages.
    ///   - token: The first part of each path.
    ///   - port: The port; 0 for a free one.
    package init(_ site: BrowseSite, token: String, port: Int) {
        (self.site, self.token, self.port) = (site, token, port)
    }

    /// Serves until the process is asked to end.
    ///
    /// - Parameter ready: Gets the address of the first page.
    /// - Throws: If the port cannot be used.
    package func run(ready: @escaping @Sendable (String) -> Void) async throws {
        let responder = CallbackResponder { (request: Request, _: BasicRequestContext) in
            await respond(to: request)
        }
        var logger = Logger(label: "faultline.browse")
        logger.logLevel = .error
        let token = token
        let server = Application(
            responder: responder,
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port), serverName: "Faultline"),
            onServerRunning: { channel in
                ready("http://127.0.0.1:\(channel.localAddress?.port ?? 0)/\(token)/")
            },
            logger: logger)
        try await server.runService()
    }

    private func respond(to request: Request) async -> Response {
        guard request.method == .get || request.method == .head else {
            return refusal(.methodNotAllowed, "These pages are for reading only.")
        }
        guard Self.isLoopback(request.head.authority) else {
            return refusal(.misdirectedRequest, "This address is for browsers on the machine itself.")
        }
        let prefix = "/\(token)/"
        guard let target = request.head.path, Self.isEqual(String(target.prefix(prefix.count)), prefix),
            let asked = PageRequest(
                target: "/" + target.dropFirst(prefix.count), range: request.headers[.range])
        else { return refusal(.notFound, "Open the address that the command has printed: it has a token.") }
        let site = site
        let answer = await Self.blocking { site.answer(asked) }
        return response(answer, hasBody: request.method == .get)
    }

    private func refusal(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }

    private func response(_ answer: PageAnswer, hasBody: Bool) -> Response {
        var headers = HTTPFields()
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        let status = HTTPResponse.Status(code: answer.status)
        switch answer.body {
        case .bytes(let bytes):
            headers[.contentLength] = "\(bytes.count)"
            return Response(
                status: status, headers: headers,
                body: hasBody ? ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)) : ResponseBody())
        case .blob(let part):
            headers[.contentLength] = "\(part.range.count)"
            guard hasBody else { return Response(status: status, headers: headers) }
            let body = ResponseBody(contentLength: part.range.count) { writer in
                var offset = part.range.lowerBound
                while offset < part.range.upperBound {
                    let end = min(offset + UInt64(Self.pieceByteCount), part.range.upperBound)
                    let range = offset..<end
                    // An error ends the connection before the length that was announced.
                    let piece = try await Self.blocking { Result { try part.bytes(range) } }.get()
                    try await writer.write(ByteBuffer(bytes: piece))
                    offset = end
                }
                try await writer.finish(nil)
            }
            return Response(status: status, headers: headers, body: body)
        }
    }

    /// Runs code that waits for the disk on a thread that may wait.
    private static func blocking<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: body()) }
        }
    }

    /// Whether a `Host` names this machine: another name leads here by a forged entry of a name server.
    private static func isLoopback(_ authority: String?) -> Bool {
        guard let authority else { return false }
        let name = authority.split(separator: ":", omittingEmptySubsequences: false).first
        return name == "127.0.0.1" || name == "localhost"
    }

    /// Compares in a time that does not tell where two texts differ.
    private static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | $1.0 ^ $1.1 } == 0
    }
}
#endif
