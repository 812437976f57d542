internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// What a dry run finds, up to so many failures.
///
/// It belongs to the one thread that migrates.
final class PreviewFindings {
    private(set) var failures: [MigrationReport.Failure] = []
    private let limit: Int
    /// Objects of each entity that are tried out; nil for all.
    let sample: Int?

    init(limit: Int, sample: Int?) {
        self.limit = max(limit, 1)
        self.sample = sample.map { max($0, 1) }
    }

    /// Whether no more are taken.
    var isFull: Bool { failures.count >= limit }

    /// Failures that are still taken.
    var room: Int { limit - failures.count }

    /// Notes a failure.
    ///
    /// - Throws: `MigrationError.stageFailed` if it was the last one that is taken.
    func note(_ failure: MigrationReport.Failure) throws {
        failures.append(failure)
        if isFull {
            throw MigrationError(.stageFailed, "The dry run has found \(failures.count) failures, and ends.")
        }
    }

    /// Notes that an object could not be converted.
    ///
    /// - Parameters:
    ///   - entity: The old entity.
    ///   - number: The old object; nil where it is none in particular.
    ///   - stage: The version that the stage leads to.
    ///   - error: What was thrown.
    ///   - refusal: What the store has refused the save for, if that was it.
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

    /// Notes an object that the new version does not take, by the entity and the property that the error names.
    ///
    /// - Throws: As `note(_:)`.
    func note(_ number: RecordID, _ error: MigrationError, stage: String) throws {
        try note(
            MigrationReport.Failure(
                stage: stage, entity: error.entityName ?? "", object: number, property: error.propertyName,
                rule: MigrationReport.Failure.Rule(error), reason: error.description))
    }

    /// Notes an object that breaks a rule of the new version.
    ///
    /// - Throws: As `note(_:)`.
    func note(_ broken: BrokenRule, stage: String) throws {
        try note(
            MigrationReport.Failure(
                stage: stage, entity: broken.entityName, object: broken.number, property: broken.propertyName,
                rule: MigrationReport.Failure.Rule(broken.kind), reason: broken.description))
    }

    /// Whether an error is that of an object or of somebody's code, so that others may go well.
    static func isOfObject(_ error: any Error) -> Bool {
        let cause = (error as? MigrationError)?.cause ?? error
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

    /// The rule that an error stands for.
    ///
    /// - Parameters:
    ///   - cause: What was thrown.
    ///   - refusal: What the store has refused the save for, if that was it.
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
