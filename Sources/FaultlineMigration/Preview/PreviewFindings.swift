internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// Collects the findings of a dry run, up to a limit.
///
/// It belongs to the one thread that migrates.
final class PreviewFindings {
    private(set) var failures: [MigrationReport.Failure] = []
    private let limit: Int
    /// Objects of each entity that are converted; nil for all.
    let sample: Int?

    init(limit: Int, sample: Int?) {
        self.limit = max(limit, 1)
        self.sample = sample.map { max($0, 1) }
    }

    /// Whether no more are accepted.
    var isFull: Bool { failures.count >= limit }

    /// The number of failures that are still accepted.
    var room: Int { limit - failures.count }

    /// Records a failure.
    ///
    /// - Throws: `MigrationError.stageFailed` if it was the last one that is accepted.
    func note(_ failure: MigrationReport.Failure) throws {
        failures.append(failure)
        if isFull {
            throw MigrationError(.stageFailed, "The dry run has found \(failures.count) failures, and ends.")
        }
    }

    /// Records that an object could not be converted.
    ///
    /// - Parameters:
    ///   - entity: The old entity.
    ///   - number: The old object; nil if the failure has none.
    ///   - stage: The version that the stage leads to.
    ///   - error: The error.
    ///   - refusal: Why the store refused the save, if it did.
    /// - Throws: As `note(_:)`.
    func note(
        _ entity: String, _ number: RecordID?, stage: String, _ error: any Error, refusal: StoreError.Code? = nil
    ) throws {
        let cause = (error as? MigrationError)?.cause ?? error
        let rule = MigrationReport.Failure.Rule(cause, refusal: refusal)
        try note(
            MigrationReport.Failure(
                stage: stage, entity: entity, object: number, property: nil, rule: rule, reason: "\(cause)"))
    }

    /// Records an object that breaks the new version's rules, by the entity and the property that the error names.
    ///
    /// - Throws: As `note(_:)`.
    func note(_ number: RecordID, _ error: MigrationError, stage: String) throws {
        try note(
            MigrationReport.Failure(
                stage: stage, entity: error.entityName ?? "", object: number, property: error.propertyName,
                rule: MigrationReport.Failure.Rule(error), reason: error.description))
    }

    /// Records an object that breaks a rule of the new version.
    ///
    /// - Throws: As `note(_:)`.
    func note(_ broken: BrokenRule, stage: String) throws {
        try note(
            MigrationReport.Failure(
                stage: stage, entity: broken.entityName, object: broken.number, property: broken.propertyName,
                rule: MigrationReport.Failure.Rule(broken.kind), reason: broken.description))
    }

    /// Whether an error comes from one object or from user code, so that other objects may succeed.
    static func isOfObject(_ error: any Error) -> Bool {
        let cause = (error as? MigrationError)?.cause ?? error
        if cause is CancellationError { return false }
        if let error = cause as? MigrationError {
            return [.stageFailed, .duplicate, .missingReference].contains(error.code)
        }
        guard let error = StorageError.translating(cause) as? StorageError else { return true }
        return [.damaged, .tooLarge, .missing].contains(error.code)
    }
}

extension MigrationReport.Failure.Rule {
    init(_ kind: BrokenRule.Kind) {
        self =
            switch kind {
            case .missing: .required
            case .dangling: .dangling
            case .count: .count
            }
    }

    /// The rule that an error means.
    ///
    /// - Parameters:
    ///   - cause: The error.
    ///   - refusal: Why the store refused the save, if it did.
    init(_ cause: any Error, refusal: StoreError.Code?) {
        self =
            switch cause {
            case SwiftDataError.modelValidationFailure: refusal == .duplicate ? .duplicate : .invalid
            case let error as MigrationError: Self(error)
            case let error as StoreError: error.code == .duplicate ? .duplicate : .code
            default: .code
            }
    }

    fileprivate init(_ error: MigrationError) {
        self =
            switch error.code {
            case .duplicate: .duplicate
            case .missingReference: .required
            default: .code
            }
    }
}
