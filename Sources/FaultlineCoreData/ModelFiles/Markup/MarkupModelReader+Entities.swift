internal import FaultlineModel

extension MarkupModelReader {
    mutating func entity(_ element: MarkupElement) -> ModelVersion.Entity {
        var entity = ModelVersion.Entity(named(element, at: ""))
        let place = entity.name
        check(
            element, at: place,
            [
                "name", "representedClassName", "parentEntity", "isAbstract", "syncable", "codeGenerationType",
                "elementID", "versionHashModifier", "coreSpotlightDisplayNameExpression",
            ])
        entity.line = element.line
        entity.className = element.text(of: "representedClassName")
        entity.superentityName = element.text(of: "parentEntity")
        entity.isAbstract = flag(element, "isAbstract", at: place)
        entity.renamingIdentifier = element.text(of: "elementID")
        entity.versionHashModifier = element.text(of: "versionHashModifier")
        entity.attributes = attributes(element, at: place)
        for child in element.children {
            switch child.name {
            case "attribute": break
            case "relationship": entity.relationships.append(relationship(child, of: place))
            case "fetchedProperty": entity.fetchedProperties.append(fetchedProperty(child, of: place))
            case "compoundIndexes": entity.indexes += compoundIndexes(child, at: place)
            case "fetchIndex": entity.indexes.append(index(child, at: place))
            case "uniquenessConstraints": entity.uniquenessConstraints += constraints(child, at: place)
            case "userInfo": entity.userInfo = userInfo(child, at: place)
            default: unknownElement(child, at: place)
            }
        }
        return entity
    }

    private mutating func relationship(_ element: MarkupElement, of entity: String) -> ModelVersion.Relationship {
        var relationship = ModelVersion.Relationship(named(element, at: entity))
        let place = "\(entity).\(relationship.name)"
        check(
            element, at: place,
            [
                "name", "optional", "transient", "toMany", "minCount", "maxCount", "ordered", "deletionRule",
                "destinationEntity", "inverseName", "inverseEntity", "syncable", "indexed", "spotlightIndexingEnabled",
                "storedInTruthFile", "elementID", "versionHashModifier",
            ])
        relationship.line = element.line
        relationship.destination = element.text(of: "destinationEntity")
        relationship.inverseName = element.text(of: "inverseName")
        relationship.inverseEntityName = element.text(of: "inverseEntity")
        relationship.minimumCount = count(element, "minCount", at: place)
        relationship.maximumCount = count(element, "maxCount", at: place)
        relationship.isToMany = flag(element, "toMany", at: place)
        relationship.isOrdered = flag(element, "ordered", at: place)
        relationship.isOptional = flag(element, "optional", at: place)
        relationship.isTransient = flag(element, "transient", at: place)
        relationship.isIndexed = flag(element, "indexed", at: place)
        relationship.renamingIdentifier = element.text(of: "elementID")
        relationship.versionHashModifier = element.text(of: "versionHashModifier")
        relationship.deleteRule = deleteRule(element, at: place)
        for child in element.children {
            if child.name == "userInfo" {
                relationship.userInfo = userInfo(child, at: place)
            } else {
                unknownElement(child, at: place)
            }
        }
        return relationship
    }

    private mutating func deleteRule(
        _ element: MarkupElement, at place: String
    ) -> Schema.Relationship.DeleteRule {
        switch element.attributes["deletionRule"] {
        case nil, "Nullify": return .nullify
        case "Cascade": return .cascade
        case "Deny": return .deny
        case "No Action": return .noAction
        case let text?:
            findings.append(
                ModelFinding(
                    .unknown, "deletionRule", at: place, line: element.line,
                    "The rule \"\(text)\" is not known; Nullify stands in its place."))
            return .nullify
        }
    }

    private mutating func fetchedProperty(
        _ element: MarkupElement, of entity: String
    ) -> ModelVersion.FetchedProperty {
        var property = ModelVersion.FetchedProperty(name: named(element, at: entity), line: element.line)
        let place = "\(entity).\(property.name)"
        check(
            element, at: place,
            ["name", "optional", "transient", "syncable", "elementID", "versionHashModifier", "indexed"])
        for child in element.children {
            switch child.name {
            case "fetchRequest": property.request = fetchRequest(child, at: place)
            case "userInfo": property.userInfo = userInfo(child, at: place)
            default: unknownElement(child, at: place)
            }
        }
        return property
    }

    // MARK: Indexes and constraints

    private mutating func compoundIndexes(_ element: MarkupElement, at place: String) -> [ModelVersion.Index] {
        groups(element, of: "compoundIndex", "index", at: place).map { names in
            ModelVersion.Index(elements: names.map { ModelVersion.Index.Element(property: $0) })
        }
    }

    private mutating func constraints(_ element: MarkupElement, at place: String) -> [[String]] {
        groups(element, of: "uniquenessConstraint", "constraint", at: place)
    }

    /// Groups of names: elements inside an element, each with further elements that have a `value`.
    private mutating func groups(
        _ element: MarkupElement, of outer: String, _ inner: String, at place: String
    ) -> [[String]] {
        var groups: [[String]] = []
        for group in element.children {
            guard group.name == outer else {
                unknownElement(group, at: place)
                continue
            }
            check(group, at: place, [])
            var names: [String] = []
            for child in group.children {
                guard child.name == inner, let name = child.attributes["value"] else {
                    unknownElement(child, at: place)
                    continue
                }
                check(child, at: place, ["value"])
                names.append(name)
            }
            groups.append(names)
        }
        return groups
    }

    private mutating func index(_ element: MarkupElement, at entity: String) -> ModelVersion.Index {
        let name = named(element, at: entity)
        let place = "\(entity).\(name)"
        check(element, at: place, ["name", "partialIndexPredicate", "partialIndexPredicateString"])
        var elements: [ModelVersion.Index.Element] = []
        for child in element.children {
            guard child.name == "fetchIndexElement" else {
                unknownElement(child, at: place)
                continue
            }
            check(child, at: place, ["property", "expression", "expressionType", "type", "order"])
            var part = ModelVersion.Index.Element(property: child.text(of: "property"))
            part.expression = child.text(of: "expression")
            part.isAscending = child.attributes["order"] != "descending"
            part.isSpatial = child.attributes["type"] == "RTree"
            elements.append(part)
        }
        return ModelVersion.Index(
            name: name, elements: elements,
            predicate: element.text(of: "partialIndexPredicate") ?? element.text(of: "partialIndexPredicateString"))
    }
}

extension MarkupElement {
    /// An attribute with a text that is not empty.
    func text(of name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }
}
