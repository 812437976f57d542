import Hummingbird

extension PhotoRoutes {
    func addPixels(_ router: Router<some RequestContext>) {
        router.put("photos/:id/pixels") { request, context -> HTTPResponse.Status in
            let parts = try PixelParts(
                request.body, byteCount: request.headers[.contentLength].flatMap { Int($0) },
                byteCountMax: limits.pixelByteCount)
            return try await library.setPixels(parts, of: context.parameters.require("id")) ? .noContent : .notFound
        }
        router.get("photos/:id/pixels") { _, context -> Response in
            let id = try context.parameters.require("id")
            guard let pixels = try await library.pixels(of: id) else {
                throw LibraryError.missing("There is no photo \(id).")
            }
            let body = ResponseBody(contentLength: pixels.byteCount) { writer in
                try await pixels.send { try await writer.write($0) }
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: [.contentType: "application/octet-stream"], body: body)
        }
    }
}
