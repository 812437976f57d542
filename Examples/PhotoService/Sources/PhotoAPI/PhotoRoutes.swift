import Foundation
package import Hummingbird

/// The endpoints of the photo service over a library.
package struct PhotoRoutes<Library: PhotoLibrary>: Sendable {
    /// Sizes of bodies and pages that clients may ask for.
    package struct Limits: Sendable {
        package var pixelByteCount = 64 << 20
        package var pageSize = 200
        package init() {}
    }

    let library: Library
    let limits: Limits

    package init(_ library: Library, limits: Limits = Limits()) {
        self.library = library
        self.limits = limits
    }

    /// A router with all endpoints.
    package func router<Context: RequestContext>(context: Context.Type = BasicRequestContext.self) -> Router<Context> {
        let router = Router(context: context)
        router.get("health", use: health)
        addUsers(router)
        addAlbums(router)
        addPhotos(router)
        addPixels(router)
        addComments(router)
        return router
    }

    private func health(_ request: Request, _ context: some RequestContext) async throws -> Response {
        let health = await library.health()
        var response = Response(
            status: health.isReady ? .ok : .serviceUnavailable,
            body: ResponseBody(byteBuffer: try ByteBuffer(bytes: JSONEncoder().encode(health))))
        response.headers[.contentType] = "application/json; charset=utf-8"
        return response
    }

    private func addUsers(_ router: Router<some RequestContext>) {
        router.post("users") { request, context in
            let user = try await library.addUser(request.decode(as: NewUser.self, context: context))
            return EditedResponse(status: .created, response: user)
        }
        router.get("users/:id") { _, context in
            try found(await library.user(context.parameters.require("id")))
        }
        router.get("users") { request, _ in
            guard let email = request.uri.queryParameters["email"] else {
                throw LibraryError.invalid("email is missing.")
            }
            return try found(await library.user(email: String(email)))
        }
    }

    private func addAlbums(_ router: Router<some RequestContext>) {
        router.post("albums") { request, context in
            let album = try await library.addAlbum(request.decode(as: NewAlbum.self, context: context))
            return EditedResponse(status: .created, response: album)
        }
        router.get("albums/:id") { _, context in
            try found(await library.album(context.parameters.require("id")))
        }
        router.delete("albums/:id") { _, context -> HTTPResponse.Status in
            try await library.deleteAlbum(context.parameters.require("id")) ? .noContent : .notFound
        }
        router.get("albums/:id/photos") { request, context in
            try await library.photos(
                ofAlbum: context.parameters.require("id"), after: position(request), limit: limit(request))
        }
    }

    private func addPhotos(_ router: Router<some RequestContext>) {
        router.post("photos") { request, context in
            let photo = try await library.addPhoto(request.decode(as: NewPhoto.self, context: context))
            return EditedResponse(status: .created, response: photo)
        }
        router.get("photos/:id") { _, context in
            try found(await library.photo(context.parameters.require("id")))
        }
        router.get("photos") { request, _ in
            try await library.photos(ofAlbum: nil, after: position(request), limit: limit(request))
        }
        router.get("search") { request, _ in
            guard let text = request.uri.queryParameters["q"], !text.isEmpty else {
                throw LibraryError.invalid("q is missing.")
            }
            return PageBody(items: try await library.search(String(text), limit: limit(request)), next: nil)
        }
        router.get("feed") { request, _ in
            PageBody(items: try await library.feed(limit: limit(request)), next: nil)
        }
        router.get("cameras") { _, _ in
            PageBody(items: try await library.cameras(), next: nil)
        }
    }

    private func addComments(_ router: Router<some RequestContext>) {
        router.post("photos/:id/comments") { request, context in
            let comment = try await library.addComment(
                request.decode(as: NewComment.self, context: context), to: context.parameters.require("id"))
            return EditedResponse(status: .created, response: comment)
        }
        router.get("photos/:id/comments") { request, context in
            let comments = try await library.comments(of: context.parameters.require("id"), limit: limit(request))
            return PageBody(items: comments, next: nil)
        }
    }

    /// The value of a response; 404 if there is none.
    private func found<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw LibraryError.missing("There is no such object.") }
        return value
    }

    private func position(_ request: Request) -> String? { request.uri.queryParameters["after"].map(String.init) }

    private func limit(_ request: Request) throws -> Int {
        guard let text = request.uri.queryParameters["limit"] else { return 50 }
        guard let limit = Int(text), (1...limits.pageSize).contains(limit) else {
            throw LibraryError.invalid("limit must be a number from 1 to \(limits.pageSize).")
        }
        return limit
    }
}
