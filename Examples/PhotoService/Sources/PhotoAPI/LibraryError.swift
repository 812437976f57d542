package import Hummingbird

/// A refusal of a library, as a response.
package enum LibraryError: Error, HTTPResponseError {
    /// An object of the request does not exist.
    case missing(String)
    /// The request contradicts the stored objects, such as a second user of one e-mail address.
    case conflict(String)
    /// The request cannot be understood.
    case invalid(String)
    /// Nothing was done; a later attempt may succeed.
    case busy

    package var status: HTTPResponse.Status {
        switch self {
        case .missing: .notFound
        case .conflict: .conflict
        case .invalid: .badRequest
        case .busy: .serviceUnavailable
        }
    }

    private var message: String {
        switch self {
        case .missing(let message), .conflict(let message), .invalid(let message): message
        case .busy: "The service is busy. Try again."
        }
    }

    package func response(from request: Request, context: some RequestContext) throws -> Response {
        try HTTPError(status, message: message).response(from: request, context: context)
    }
}
