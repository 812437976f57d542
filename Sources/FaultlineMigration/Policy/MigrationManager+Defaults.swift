internal import FaultlineModel
internal import FaultlineObjects

// The default work of a mapping: for policies that override nothing.

extension MigrationManager {
    /// Makes one new object of an old one, sets its attributes by the mapping, and associates the two.
    func createDestinationInstance(forSource source: ManagedObject, in mapping: EntityMapping) throws {
        let resolved = try resolved(mapping.name)
        guard let name = resolved.destination?.name else { return }
        let made = try destinationContext.insertNewObject(forEntityName: name)
        for attribute in resolved.attributes { try set(attribute, of: made, from: source) }
        try stage.associate(source, with: made, resolved, isNew: true)
    }

    private func set(_ attribute: ResolvedMapping.Attribute, of made: ManagedObject, from source: ManagedObject) throws
    {
        switch attribute.value {
        case .copied(let name, let keepsDefault, let isSameKind):
            if isSameKind, made.copyValue(forKey: attribute.name, from: source, name) { return }
            if let blob = source.blobIdentifier(forKey: name) {
                stage.move(blob, of: source.entity.name)
                made.setBlob(source.blob(forKey: name), forKey: attribute.name)
            } else if let value = source.value(forKey: name) {
                made.setValue(value, forKey: attribute.name)
            } else if !keepsDefault {
                made.setValue(nil, forKey: attribute.name)
            }
        case .path(let path): made.setValue(source.value(forKeyPath: path), forKey: attribute.name)
        case .constant(let value): made.setValue(value, forKey: attribute.name)
        case .computed(let body):
            made.setValue(try evaluating(attribute.name) { try body(source, self) }, forKey: attribute.name)
        }
    }

    /// Relates a new object to others by the mapping.
    func createRelationships(forDestination new: ManagedObject, in mapping: EntityMapping) throws {
        let resolved = try resolved(mapping.name)
        let relationships = stage.relationships(of: resolved)
        guard !relationships.isEmpty else { return }
        let first = try currentSource ?? stage.firstSource(of: new, by: resolved.place)
        guard let source = first else { return }
        for relation in relationships {
            switch relation.value {
            case .computed(let body):
                new.setValue(try evaluating(relation.name) { try body(source, self) }, forKey: relation.name)
            case .destinations(let name, let places) where relation.isToOne:
                let found = try target(of: source, name) { old in
                    for place in places {
                        let found = try stage.destinations(of: old.objectID.number, by: place, limit: 1).first
                        if let found { return found }
                    }
                    return nil
                }
                if let found { new.setValue(found, forKey: relation.name) }
                new.takePlace(relation.name, from: source, name)
            case .destinations(let name, let places):
                let found = try members(of: new, resolved, from: source, name) { old in
                    try places.flatMap { try stage.destinations(of: old.objectID.number, by: $0) }
                }
                setMembers(relation, of: new, to: found)
            case .counterparts(let place) where relation.isToOne:
                let found = try stage.destinations(of: source.objectID.number, by: place, limit: 1).first
                if let found { new.setValue(found, forKey: relation.name) }
            case .counterparts(let place):
                setMembers(relation, of: new, to: try stage.destinations(of: source.objectID.number, by: place))
            case .kept(let name, let entityName) where relation.isToOne:
                let found = try target(of: source, name) { old in
                    try stage.target.dynamicObject(old.objectID.number, entityNamed: entityName)
                }
                if let found { new.setValue(found, forKey: relation.name) }
                new.takePlace(relation.name, from: source, name)
            case .kept(let name, let entityName):
                let found = try members(of: new, resolved, from: source, name) { old in
                    [try stage.target.dynamicObject(old.objectID.number, entityNamed: entityName)]
                }
                setMembers(relation, of: new, to: found)
            }
        }
    }

    /// The new object of the first old one in a relationship that has become one; nil for none.
    private func target(
        of source: ManagedObject, _ name: String, _ convert: (ManagedObject) throws -> ManagedObject?
    ) throws -> ManagedObject? {
        switch source.value(forKey: name) {
        case let target as ManagedObject: return try convert(target)
        case let members as [ManagedObject]:
            for member in members { if let found = try convert(member) { return found } }
            return nil
        default: return nil
        }
    }

    /// The members of a relationship that come from a relationship of the old object, each once.
    ///
    /// A to-many relationship of an object made of several old ones has the members of all.
    private func members(
        of new: ManagedObject, _ mapping: ResolvedMapping, from source: ManagedObject, _ name: String,
        _ convert: (ManagedObject) throws -> [ManagedObject]
    ) throws -> [ManagedObject] {
        var seen: Set<ObjectIdentifier> = []
        var found: [ManagedObject] = []
        func add(_ old: ManagedObject) throws -> Bool {
            for member in try related(old, name) {
                for made in try convert(member) where seen.insert(ObjectIdentifier(made)).inserted {
                    found.append(made)
                }
            }
            return true
        }
        if !stage.mayMerge(mapping.place) {
            _ = try add(source)
        } else {
            try stage.forEachSource(of: new, by: mapping.place, add)
        }
        return found
    }

    private func related(_ source: ManagedObject, _ name: String) throws -> [ManagedObject] {
        switch source.value(forKey: name) {
        case let target as ManagedObject: [target]
        case let members as [ManagedObject]: members
        default: []
        }
    }

    private func setMembers(
        _ relation: ResolvedMapping.Relation, of new: ManagedObject, to found: [ManagedObject]
    ) {
        guard !found.isEmpty else { return }
        var seen: Set<ObjectIdentifier> = []
        let members = found.filter { seen.insert(ObjectIdentifier($0)).inserted }
        // Members that the other side, or a policy, has added stay.
        let others = (new.value(forKey: relation.name) as? [ManagedObject] ?? []).filter {
            !seen.contains(ObjectIdentifier($0))
        }
        new.setValue(members + others, forKey: relation.name)
    }
}
