import Foundation
import Hummingbird

extension PhotoRoutes {
    func addPixels(_ router: Router<some RequestContext>) {
        router.put("photos/:id/pixels") { request, context -> HTTPResponse.Status in
            let body = try await request.body.collect(upTo: limits.pixelByteCount)
            let pixels = Data(body.readableBytesView)
            return try await library.setPixels(pixels, of: context.parameters.require("id")) ? .noContent : .notFound
        }
        router.get("photos/:id/pixels") { _, context -> Response in
            let id = try context.parameters.require("id")
            guard let photo = try await library.photo(id) else {
                throw LibraryError.missing("There is no photo \(id).")
            }
            let body = ResponseBody(contentLength: photo.byteCount) { writer in
                for start in stride(from: 0, to: photo.byteCount, by: Self.partByteCount) {
                    let range = start..<min(start + Self.partByteCount, photo.byteCount)
                    guard let part = try await library.pixels(of: id, in: range), part.count == range.count else {
                        throw LibraryError.missing("The pixels of \(id) were replaced.")
                    }
                    try await writer.write(ByteBuffer(bytes: part))
                }
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: "application/octet-stream"], body: body)
        }
    }

    /// Pixels are sent in parts, so that a slow client keeps only one of them in memory.
    private static var partByteCount: Int { 256 << 10 }
}
