/// An error of the object layer, by name, with the names and meanings of SwiftData's error type.
///
/// Compare with `~=` or `==`; `explanation` has the details and the remedy, and is not part of the comparison.
public struct SwiftDataError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Name: String {
        case includePendingChangesWithBatchSize, unsupportedPredicate, unsupportedKeyPath
        case sortingPendingChangesWithIdentifiers, unsupportedSortDescriptor, duplicateConfiguration
        case configurationFileNameTooLong, configurationFileNameContainsInvalidCharacters
        case configurationSchemaNotFoundInContainerSchema, loadIssueModelContainer, modelValidationFailure
        case missingModelContext, backwardMigration, unknownSchema, historyTokenExpired
        case invalidTransactionFetchRequest
    }

    private let name: Name
    /// The details of this error, and the remedy.
    public let explanation: String
    /// The objects and rules of a save that was refused for them: all, or the first 1,000 of more.
    public let findings: [ValidationFinding]

    private init(_ name: Name, _ explanation: String, _ findings: [ValidationFinding] = []) {
        self.name = name
        self.explanation = explanation
        self.findings = findings
    }

    /// Whether both have the same name; explanations are not compared.
    public static func == (left: SwiftDataError, right: SwiftDataError) -> Bool { left.name == right.name }

    /// Hashes the name, as `==` compares it.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Lets a `catch` or `switch` match any error against one of the names.
    public static func ~= (pattern: SwiftDataError, value: any Error) -> Bool {
        (value as? SwiftDataError) == pattern
    }

    /// The name, and the explanation if there is one.
    public var description: String {
        explanation.isEmpty ? name.rawValue : "\(name.rawValue): \(explanation)"
    }

    /// The same error with an explanation.
    package func explained(_ text: String, _ findings: [ValidationFinding] = []) -> SwiftDataError {
        SwiftDataError(name, text, findings)
    }

    /// A fetch in batches met unsaved changes.
    public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize, "")
    /// A predicate that cannot be evaluated.
    public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate, "")
    /// A key path that names no persisted property.
    public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath, "")
    /// A sort descriptor that names no stored property.
    public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor, "")
    /// Two configurations of one container name the same store.
    public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration, "")
    /// A configuration's name is too long for a file name.
    public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong, "")
    /// A configuration's name cannot be a file name.
    public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
        .configurationFileNameContainsInvalidCharacters, "")
    /// Never thrown, and there for code of SwiftData: opening throws `StorageError` or `MigrationError`.
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer, "")
    /// Objects break the rules of their entity; nothing was saved.
    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure, "")
    /// The object is in no context.
    public static let missingModelContext = SwiftDataError(.missingModelContext, "")
    /// Never thrown, and there for code of SwiftData: `MigrationError` has the code `backward`.
    public static let backwardMigration = SwiftDataError(.backwardMigration, "")
    /// The history no longer has the transaction that a token names.
    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired, "")
    /// A history fetch requested transactions of another type.
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest, "")
    /// A model class or a store's schema that the container does not know.
    public static let unknownSchema = SwiftDataError(.unknownSchema, "")
}
