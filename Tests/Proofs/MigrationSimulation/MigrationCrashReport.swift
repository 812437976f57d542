/// The results of power cuts during migrations.
package struct MigrationCrashReport: Sendable, CustomStringConvertible {
    /// The number of disks that were opened after a cut.
    package var states = 0
    /// How many of these had the old state, a migration to be resumed, or the new state.
    package var old = 0
    package var resumable = 0
    package var new = 0
    /// How many of these were migrated to the end, given up or rolled back; the others have the contents of one that
    /// was.
    package var carriedOn = 0
    /// The problems found, with the seed and the moment.
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
