package import FaultlineModel

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

    /// A property that an error is about.
    package struct Place: Sendable {
        package let entityName: String
        package let propertyName: String
    }

    private let name: Name
    /// The details of this error, and the remedy.
    public let explanation: String
    /// The objects and rules of a save that was refused for them: all, or the first 1,000 of more.
    public let findings: [ValidationFinding]
    /// The property of an error without findings; nil if none is known.
    package private(set) var place: Place?

    private init(_ name: Name, _ explanation: String, _ findings: [ValidationFinding] = []) {
        self.name = name
        self.explanation = explanation
        self.findings = findings
    }

    /// Whether both have the same name; explanations are not compared.
    public static func == (left: SwiftDataError, right: SwiftDataError) -> Bool { left.name == right.name }

    /// Hashes the name, as `==` compares it.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Lets a `catch` or `switch` match any error against one of the names, also an error of another type that
    /// SwiftData throws under that name: opening a store that cannot be opened or migrated is
    /// `loadIssueModelContainer`.
    public static func ~= (pattern: SwiftDataError, value: any Error) -> Bool {
        if let error = value as? SwiftDataError { return error == pattern }
        return (value as? any SwiftDataNamed)?.isNamed(pattern) ?? false
    }

    /// The name, and the explanation if there is one.
    public var description: String {
        explanation.isEmpty ? name.rawValue : "\(name.rawValue): \(explanation)"
    }

    /// The same error with an explanation.
    package func explained(_ text: String, _ findings: [ValidationFinding] = []) -> SwiftDataError {
        SwiftDataError(name, text, findings)
    }

    /// The same error about a property.
    package func about(_ entityName: String, _ propertyName: String) -> SwiftDataError {
        var error = self
        error.place = Place(entityName: entityName, propertyName: propertyName)
        return error
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
    /// A store cannot be opened, or not be brought to the requested schema.
    ///
    /// Opening throws `StorageError`, `MigrationError` or `SchemaError`, with the details; a `catch` by this name
    /// matches them.
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer, "")
    /// Objects break the rules of their entity; nothing was saved.
    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure, "")
    /// The object is in no context.
    public static let missingModelContext = SwiftDataError(.missingModelContext, "")
    /// The store is newer than the requested schema.
    ///
    /// Opening throws `MigrationError` of the code `backward`; a `catch` by this name matches it.
    public static let backwardMigration = SwiftDataError(.backwardMigration, "")
    /// The history no longer has the transaction that a token names.
    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired, "")
    /// A history fetch requested transactions of another type.
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest, "")
    /// A model class or a store's schema that the container does not know.
    ///
    /// A `catch` by this name also matches `MigrationError` of the code `unknownVersion`.
    public static let unknownSchema = SwiftDataError(.unknownSchema, "")
    /// A configuration was made with a schema that the container's schema does not contain.
    public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
        .configurationSchemaNotFoundInContainerSchema, "")
    /// Never thrown, and there for code of SwiftData: unsaved objects are sorted by their identifiers, too.
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers, "")
}

/// An error for which SwiftData has a name.
package protocol SwiftDataNamed: Error {
    /// Whether SwiftData throws an error under a name where this one is thrown.
    func isNamed(_ error: SwiftDataError) -> Bool
}

extension SchemaError: SwiftDataNamed {
    package func isNamed(_ error: SwiftDataError) -> Bool { error == .loadIssueModelContainer }
}
