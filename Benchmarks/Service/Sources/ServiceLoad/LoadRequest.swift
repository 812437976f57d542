/// A request of a load.
struct LoadRequest: Sendable {
    enum Method: Sendable { case get, post }

    var method: Method = .get
    var path: String
    /// JSON.
    var body: String?
    /// The number of the added object, while the data is made; nil under load.
    var number: Int?
}

/// The responses that one connection got.
struct ConnectionResult: Sendable {
    var nanoseconds: [UInt64] = []
    /// Responses of another class than 2xx.
    var refusals: [UInt: Int] = [:]
    /// The identifiers of added objects, by number.
    var identifiers: [Int: String] = [:]
}
