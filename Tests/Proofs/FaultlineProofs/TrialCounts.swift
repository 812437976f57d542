/// The results of trials: can be added up, and passed from a process to its parent as a line of JSON.
protocol TrialCounts: Codable, Sendable {
    init()
    mutating func add(_ other: Self)
}
