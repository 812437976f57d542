internal import FaultlineLog

/// How often the unfinished stage of a migration was resumed in vain.
///
/// Kept with the migration's record: a save of the stage and the reset of the count are one transaction.
package struct StageAttempts: Codable, Sendable, Equatable {
    /// Resumes since the last save that a later resume keeps; each is counted before code of the stage runs.
    package var resumes = 0
    /// Runs, one after the other, that have failed at the object; 0 if none has.
    package var failures = 0
    /// The entity of the object, by its name in the version before or after the stage.
    package var entity: String?
    /// The object that the newest failure names; or, of a custom stage, one that its closures have saved.
    package var object: UInt64?

    package init() {}

    /// Whether counting from here cannot overflow.
    var isPlausible: Bool {
        [resumes, failures].allSatisfy { $0 >= 0 && $0 <= 1 << 56 } && object ?? 0 <= Limits.recordIDMax
    }
}
