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

/// A sequence of random numbers that a seed determines (SplitMix64, Steele, Lea and Flood 2014).
struct LoadRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
