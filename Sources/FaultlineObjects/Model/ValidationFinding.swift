/// A rule that an object breaks, so that nothing was saved; `SwiftDataError.findings` lists them.
public struct ValidationFinding: Hashable, Sendable, CustomStringConvertible {
    /// The kind of rule.
    ///
    /// Messages may change, rules do not.
    public enum Rule: String, Sendable, CaseIterable {
        /// A property that is not optional has no value.
        case required
        /// A collection has fewer objects than its `minimumModelCount`.
        case minimumModelCount
        /// A collection has more objects than its `maximumModelCount`.
        case maximumModelCount
        /// The delete rule of a relationship denies the object's deletion while there are objects in it.
        case deny
        /// The object was read with placeholders, so that a save would store them as its values.
        case damaged
        /// The object refers to one that is not in the store, or a row of a batch insertion does.
        case missingObject
        /// Another object has the same unique values: `conflictingObject`.
        case unique
        /// The object, or a value of it, exceeds a limit of the format.
        case tooLarge
        /// The object was changed here, and deleted by another save.
        case deletedElsewhere
        /// A rule of the object's class: `ObjectLifecycle`.
        case custom
    }

    /// The object; one that was never saved has a temporary identifier.
    public let object: PersistentIdentifier
    /// The property, for a constraint of several properties the first; nil if the rule is about the whole object.
    public let propertyName: String?
    /// The rule.
    public let rule: Rule
    /// The object that has the same unique values, with rule `.unique`; nil with other rules, and for an earlier row of
    /// the same batch.
    public let conflictingObject: PersistentIdentifier?
    /// The violation, in a sentence without its full stop.
    public let description: String

    package init(
        _ object: PersistentIdentifier, _ propertyName: String?, _ rule: Rule, _ description: String,
        conflictingObject: PersistentIdentifier? = nil
    ) {
        self.conflictingObject = conflictingObject
        self.object = object
        self.propertyName = propertyName
        self.rule = rule
        self.description = description
    }
}

extension SwiftDataError {
    /// The greatest number of findings that an error keeps; its explanation has the total number.
    static let findingCountMax = 1_000
    private static let shownCountMax = 20

    /// The error of a save that was refused because of its objects.
    static func refused(_ findings: FindingList) -> SwiftDataError {
        let shown = findings.kept.prefix(shownCountMax).map(\.description).joined(separator: "; ")
        let rest = findings.count - min(findings.kept.count, shownCountMax)
        let more = rest > 0 ? "; and \(rest) more" : ""
        return modelValidationFailure.explained("Nothing was saved. \(shown)\(more).", findings.kept)
    }
}

/// The findings of a save: each once, the first of them kept, all counted.
struct FindingList {
    private(set) var kept: [ValidationFinding] = []
    private var known: Set<ValidationFinding> = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func add(_ finding: ValidationFinding) {
        guard kept.count < SwiftDataError.findingCountMax else {
            count += 1
            return
        }
        guard known.insert(finding).inserted else { return }
        kept.append(finding)
        count += 1
    }

    mutating func add(_ others: FindingList) {
        others.kept.forEach { add($0) }
        count += others.count - others.kept.count
    }
}
