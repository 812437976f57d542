import BenchmarkKit
import Glibc

/// A client of a web server on this machine, by one connection.
final class PageClient {
    private let port: UInt16
    private let descriptor: Int32
    private var received: [UInt8] = []

    /// - Throws: `.storage` if the server does not answer.
    init(port: UInt16) throws(BenchmarkError) {
        self.port = port
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        let descriptor = descriptor
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw BenchmarkError(.storage, "no server answers on port \(port)") }
    }

    deinit { close(descriptor) }

    /// Fetches a page.
    ///
    /// - Returns: The page, and the time from the request to its last byte.
    /// - Throws: `.wrongResult` for another status than 200.
    func page(_ path: String) throws(BenchmarkError) -> (text: String, nanoseconds: UInt64) {
        let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
        received.removeAll(keepingCapacity: true)
        let begin = ProcessFigures.wallNanoseconds()
        let sent = send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL))
        guard sent == request.utf8.count else { throw BenchmarkError(.storage, "cannot ask for \(path)") }
        var end: Int?
        while end.map({ received.count < $0 }) ?? true {
            try receive(path)
            if end == nil { end = try length(path) }
        }
        let time = ProcessFigures.wallNanoseconds() - begin
        return (String(decoding: received, as: UTF8.self), time)
    }

    private func receive(_ path: String) throws(BenchmarkError) {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { throw BenchmarkError(.storage, "the server has closed the connection at \(path)") }
        received += piece[..<count]
    }

    /// The bytes of head and body; nil until the head is there.
    private func length(_ path: String) throws(BenchmarkError) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard let end = received.firstRange(of: mark)?.upperBound else { return nil }
        let lines = String(decoding: received[..<end], as: UTF8.self).lowercased().split(separator: "\r\n")
        guard lines.first?.contains(" 200 ") == true else {
            throw BenchmarkError(.wrongResult, "\(path) is answered by \(lines.first ?? "")")
        }
        let name = "content-length: "
        guard let field = lines.first(where: { $0.hasPrefix(name) }), let count = Int(field.dropFirst(name.count))
        else {
            throw BenchmarkError(.wrongResult, "the answer to \(path) does not tell its length")
        }
        return end + count
    }
}
