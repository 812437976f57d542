/// Why a request has no page: the status of the answer, and a sentence.
struct PageFailure: Error {
    let status: Int
    let message: String

    init(_ status: Int, _ message: String) { (self.status, self.message) = (status, message) }
}
