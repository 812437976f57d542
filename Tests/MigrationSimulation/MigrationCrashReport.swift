/// What power cuts over migrations have shown.
package struct MigrationCrashReport: Sendable, CustomStringConvertible {
    /// Disks that were opened after a cut.
    package var states = 0
    /// Of these, by what was found: the old state, a migration to be resumed, the new state.
    package var old = 0
    package var resumable = 0
    package var new = 0
    /// Of these, how many were migrated on, given up or rolled back; the others have the contents of one that was.
    package var carriedOn = 0
    /// What was wrong, with the seed and the moment.
    package var violations: [String] = []

    package init() {}

    package mutating func add(_ other: MigrationCrashReport) {
        states += other.states
        old += other.old
        resumable += other.resumable
        new += other.new
        carriedOn += other.carriedOn
        violations += other.violations
    }

    package var description: String {
        "\(states) states: \(old) old, \(resumable) to be resumed, \(new) new, \(carriedOn) carried on with; \(violations.count) violations"
    }
}
