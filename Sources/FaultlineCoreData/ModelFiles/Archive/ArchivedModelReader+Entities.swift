internal import FaultlineModel

extension ArchivedModelReader {
    mutating func entity(_ object: ArchivedObject, name key: String) -> ModelVersion.Entity {
        var entity = ModelVersion.Entity(object["NSEntityName"]?.text ?? key)
        let place = entity.name
        check(
            object, at: place,
            [
                "NSEntityName", "NSClassNameForEntity", "NSIsAbstract", "NSManagedObjectModel", "NSProperties",
                "NSRenamingIdentifier", "NSSubentities", "NSSuperentity", "NSUniqueTuples", "NSUserInfo",
                "NSVersionHashModifier", "NSCompoundIndexes", "NSFetchIndexDescriptions",
                "NSCoreSpotlightDisplayNameExpression",
            ])
        entity.className = object["NSClassNameForEntity"]?.text
        entity.superentityName = object["NSSuperentity"]?["NSEntityName"]?.text
        entity.isAbstract = flag(object, "NSIsAbstract")
        entity.renamingIdentifier = renaming(object, entity.name)
        entity.versionHashModifier = object["NSVersionHashModifier"]?.text
        entity.userInfo = userInfo(object)
        entity.uniquenessConstraints = (object["NSUniqueTuples"]?.list ?? []).map { $0.propertyNames }
        entity.indexes = indexes(object, at: place)
        // A compiled entity has the properties that it inherits, too.
        let inherited = Set((object["NSSuperentity"]?["NSProperties"]?.dictionary ?? []).map(\.key))
        for (name, property) in object["NSProperties"]?.dictionary ?? [] where !inherited.contains(name) {
            let place = "\(entity.name).\(name)"
            if property.isKind(of: "NSAttributeDescription") {
                entity.attributes.append(attribute(property, name: name, at: place, depth: 0))
            } else if property.isKind(of: "NSRelationshipDescription") {
                entity.relationships.append(relationship(property, name: name, at: place))
            } else if property.isKind(of: "NSFetchedPropertyDescription") {
                entity.fetchedProperties.append(fetchedProperty(property, name: name, at: place))
            } else if !property.isKind(of: "NSExpressionDescription") {
                findings.append(
                    ModelFinding(
                        .unknown, property.className ?? "value", at: place,
                        "Properties of this class are not known, and the schema leaves it out."))
            }
        }
        return entity
    }

    /// The fields that all properties have.
    static let propertyFields: Set<String> = [
        "NSPropertyName", "NSEntity", "NSIsOptional", "NSIsTransient", "NSIsIndexed", "NSIsReadOnly", "NSIsOrdered",
        "NSIndexedBySpotlight", "NSIsStoredInTruth", "NSAllowsCloudEncryption", "NSRenamingIdentifier", "NSUserInfo",
        "NSValidationPredicates", "NSValidationWarnings", "NSVersionHashModifier", "_P",
    ]

    private mutating func relationship(
        _ object: ArchivedObject, name: String, at place: String
    ) -> ModelVersion.Relationship {
        check(
            object, at: place,
            Self.propertyFields.union([
                "NSDestinationEntity", "NSInverseRelationship", "NSDeleteRule", "NSMinCount", "NSMaxCount",
                "_NSDestinationEntityName", "_NSInverseRelationshipName",
            ]))
        var relationship = ModelVersion.Relationship(name)
        relationship.destination =
            object["_NSDestinationEntityName"]?.text ?? object["NSDestinationEntity"]?["NSEntityName"]?.text
        relationship.inverseName =
            object["_NSInverseRelationshipName"]?.text ?? object["NSInverseRelationship"]?["NSPropertyName"]?.text
        relationship.inverseEntityName = object["NSInverseRelationship"]?["NSEntity"]?["NSEntityName"]?.text
        let most = object["NSMaxCount"]?.integer ?? 0
        relationship.isToMany = most != 1
        relationship.minimumCount = max(object["NSMinCount"]?.integer ?? 0, 0)
        relationship.maximumCount = max(most, 0)
        relationship.isOrdered = flag(object, "NSIsOrdered")
        relationship.isOptional = flag(object, "NSIsOptional")
        relationship.isTransient = flag(object, "NSIsTransient")
        relationship.isIndexed = flag(object, "NSIsIndexed")
        relationship.renamingIdentifier = renaming(object, name)
        relationship.versionHashModifier = object["NSVersionHashModifier"]?.text
        relationship.userInfo = userInfo(object)
        switch object["NSDeleteRule"]?.integer {
        case 0: relationship.deleteRule = .noAction
        case nil, 1: relationship.deleteRule = .nullify
        case 2: relationship.deleteRule = .cascade
        case 3: relationship.deleteRule = .deny
        case let number?:
            findings.append(
                ModelFinding(
                    .unknown, "NSDeleteRule", at: place,
                    "The rule \(number) is not known; nullify stands in its place."))
        }
        return relationship
    }

    private mutating func fetchedProperty(
        _ object: ArchivedObject, name: String, at place: String
    ) -> ModelVersion.FetchedProperty {
        check(object, at: place, Self.propertyFields.union(["NSFetchRequest", "_NSFetchRequestEntityName"]))
        var property = ModelVersion.FetchedProperty(name: name, userInfo: userInfo(object))
        if let request = object["NSFetchRequest"] {
            var read = fetchRequest(request, name: "", at: place)
            read.entityName = read.entityName ?? object["_NSFetchRequestEntityName"]?.text
            property.request = read
        }
        return property
    }

    private mutating func indexes(_ object: ArchivedObject, at entity: String) -> [ModelVersion.Index] {
        var indexes: [ModelVersion.Index] = []
        for description in object["NSFetchIndexDescriptions"]?.list ?? [] {
            let name = description["NSIndexName"]?.text
            check(
                description, at: "\(entity).\(name ?? "")",
                ["NSIndexName", "NSPartialIndexPredicate", "NSIndexElements", "NSEntity"])
            var elements: [ModelVersion.Index.Element] = []
            for object in description["NSIndexElements"]?.list ?? [] {
                check(
                    object, at: "\(entity).\(name ?? "")",
                    [
                        "NSPropertyName", "NSFetchIndexElementType", "NSFetchIndexDescription", "NSAscending",
                        "NSExpression",
                    ])
                var element = ModelVersion.Index.Element(property: object["NSPropertyName"]?.text)
                element.expression = ArchivedPredicate.expression(object["NSExpression"])
                element.isAscending = flag(object, "NSAscending")
                element.isSpatial = object["NSFetchIndexElementType"]?.integer == 1
                elements.append(element)
            }
            indexes.append(
                ModelVersion.Index(
                    name: name, elements: elements,
                    predicate: ArchivedPredicate.text(of: description["NSPartialIndexPredicate"])))
        }
        // The older list repeats the newer one.
        let known = Set(indexes.map { $0.elements.map(\.property) })
        for group in object["NSCompoundIndexes"]?.list ?? [] {
            let names = group.propertyNames
            guard !names.isEmpty, !known.contains(names) else { continue }
            indexes.append(ModelVersion.Index(elements: names.map { ModelVersion.Index.Element(property: $0) }))
        }
        return indexes
    }
}

extension ArchivedObject {
    /// The names in a list of properties: texts, or properties themselves.
    fileprivate var propertyNames: [String] {
        (list ?? []).compactMap { $0.text ?? $0["NSPropertyName"]?.text }
    }
}
