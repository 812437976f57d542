extension SchemaDifference.Change {
    /// The place and the change in words, such as `Book.pages was added`.
    public var summary: String {
        "\(entityName)\(propertyName.map { ".\($0)" } ?? "") \(kind.words)"
    }
}

extension SchemaDifference.Kind {
    /// Whether the change gives a schema another fingerprint.
    package var changesFingerprint: Bool {
        switch self {
        case .attributeDefaultChanged, .externalStorageChanged, .deleteRuleChanged, .indexAdded, .indexRemoved: false
        default: true
        }
    }

    /// The change in words, for a sentence that begins with the place.
    fileprivate var words: String {
        switch self {
        case .entityAdded, .attributeAdded, .relationshipAdded: "was added"
        case .entityRemoved, .attributeRemoved, .relationshipRemoved: "was removed"
        case .entityRenamed(let old), .attributeRenamed(let old), .relationshipRenamed(let old): "was named \(old)"
        case .superentityChanged(let old, let new): "has the parent \(new ?? "none") instead of \(old ?? "none")"
        case .entityHierarchiesMerged: "has a common ancestor with another entity"
        case .attributeKindChanged(let old, let new): "has the type \(new) instead of \(old)"
        case .attributeOptionalityChanged(let isOptional), .relationshipOptionalityChanged(let isOptional):
            isOptional ? "became optional" : "became required"
        case .attributeTransienceChanged(let isTransient): isTransient ? "became ephemeral" : "is stored now"
        case .attributeDefaultChanged: "has another default"
        case .attributeMembersChanged: "has other members"
        case .externalStorageChanged(let isExternal): isExternal ? "is stored externally" : "is stored in the row"
        case .relationshipDestinationChanged(let old, let new): "leads to \(new) instead of \(old)"
        case .relationshipCardinalityChanged(let isToOne): isToOne ? "became to-one" : "became to-many"
        case .relationshipCountsChanged: "has another minimum or maximum number of members"
        case .relationshipInverseChanged(let old, let new):
            "has the inverse \(new ?? "none") instead of \(old ?? "none")"
        case .deleteRuleChanged(let old, let new): "has the delete rule \(new) instead of \(old)"
        case .attributeBecameRelationship: "became a relationship"
        case .relationshipBecameAttribute: "became an attribute"
        case .uniquenessAdded(let names): "must be unique by \(names.joined(separator: ", "))"
        case .uniquenessRemoved(let names): "need not be unique by \(names.joined(separator: ", "))"
        case .indexAdded(let names): "has an index by \(names.joined(separator: ", "))"
        case .indexRemoved(let names): "has no index by \(names.joined(separator: ", "))"
        case .hashModifierChanged: "has another hash modifier"
        }
    }
}
