/// What trials came to: adds up, and goes from a process to the one that started it as a line of JSON.
protocol TrialCounts: Codable, Sendable {
    init()
    mutating func add(_ other: Self)
}
