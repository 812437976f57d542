internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// An entity mapping whose new objects are made as rows, without objects: this is the one place that decides so.
///
/// All of this must hold; else the mapping makes objects:
///
/// - Each old object becomes the new one of its number, and no code of the stage sees objects.
/// - Attributes are copied to the same type or a wider one, are constants, or keep their defaults.
/// - The rows alone can answer the filter.
///
/// A reference is written with the row if the numbers of its targets are known: the targets are carried over, or become
/// the objects of their numbers by one mapping without a filter. The other side must store nothing, and no mapping may
/// set it. Other relationships are set on objects, in the second pass.
struct RowMapping {
    /// The number of this rule: a stage that was begun by another one makes objects of the rest, and relates all.
    ///
    /// It must change with the mappings, or the references, that become rows. 0 stands for no rows.
    static let rule = 1

    /// Makes the rows.
    let conversion: RowConversion
    /// The relationships that are set on objects.
    let relationships: [ResolvedMapping.Relation]

    /// - Throws: The store's error if it cannot be read; `unsupportedPredicate` for an invalid filter.
    init?(
        _ mapping: ResolvedMapping, among mappings: [ResolvedMapping], from source: StageContext,
        to target: StageContext
    ) throws {
        guard mapping.isOneToOne, let old = mapping.source, let new = mapping.destination, old.knowsDefaults,
            new.knowsDefaults, let attributes = Attributes(mapping.attributes, from: old, to: new)
        else { return nil }
        if let filter = mapping.mapping.sourceFilter {
            guard try source.isAnsweredByRows(filter, entityNamed: old.name) else { return nil }
        }
        var references: [RowConversion.Reference] = []
        var relationships: [ResolvedMapping.Relation] = []
        for relation in mapping.relationships {
            if let reference = Self.reference(relation, of: mapping, among: mappings, source, target) {
                references.append(reference)
            } else {
                relationships.append(relation)
            }
        }
        let conversion = RowConversion(
            new.name, of: target.core, from: old.name, of: source.core, copies: attributes.copies,
            constants: attributes.constants, references: references)
        guard let conversion else { return nil }
        self.conversion = conversion
        self.relationships = relationships
    }

    // MARK: Attributes

    private struct Attributes {
        var copies: [RowConversion.Copy] = []
        var constants: [(slot: Int, value: Any?)] = []

        init?(_ attributes: [ResolvedMapping.Attribute], from old: Schema.Entity, to new: Schema.Entity) {
            var slots: Set<Int> = []
            for attribute in attributes {
                guard let slot = new.properties.firstIndex(where: { $0.name == attribute.name }),
                    let property = new.properties[slot] as? Schema.Attribute, slots.insert(slot).inserted
                else { return nil }
                // It is written nowhere.
                if property.isTransient { continue }
                switch attribute.value {
                case .copied(let name, let keepsDefault, _):
                    guard let oldSlot = old.properties.firstIndex(where: { $0.name == name }),
                        let before = old.properties[oldSlot] as? Schema.Attribute, !before.isTransient
                    else { return nil }
                    copies.append(
                        RowConversion.Copy(
                            from: oldSlot, to: slot,
                            missing: property.isOptional ? .none : keepsDefault ? .standard : .refused))
                case .constant(let value): constants.append((slot, value))
                case .path, .computed: return nil
                }
            }
            // With a policy that overrides nothing, the save reports a required value that is missing.
            for case let (slot, property as Schema.Attribute) in new.properties.enumerated()
            where !property.isOptional && !property.isTransient && !property.hasDefaultValue && !slots.contains(slot) {
                return nil
            }
        }
    }

    // MARK: References

    /// A relationship that is written with the row; nil if it must be set on the object.
    private static func reference(
        _ relation: ResolvedMapping.Relation, of mapping: ResolvedMapping, among mappings: [ResolvedMapping],
        _ source: StageContext, _ target: StageContext
    ) -> RowConversion.Reference? {
        guard relation.isToOne, let name = relation.value.oldName, let old = mapping.source,
            let new = mapping.destination,
            let oldSlot = old.properties.firstIndex(where: { $0.name == name }),
            let before = old.properties[oldSlot] as? Schema.Relationship, before.isToOneRelationship,
            let targets = source.core.store.storage.entity(named: before.destination),
            let slot = new.properties.firstIndex(where: { $0.name == relation.name }),
            let relationship = new.properties[slot] as? Schema.Relationship,
            mapping.relationships.filter({ $0.name == relation.name }).count == 1
        else { return nil }
        if let inverse = target.core.store.storage.schema.inverse(of: relationship) {
            let isSet = mappings.contains { other in
                other.destination?.name == relationship.destination
                    && other.relationships.contains { $0.name == inverse.name }
            }
            guard !inverse.isToOneRelationship, !isSet else { return nil }
        }
        switch relation.value {
        case .kept: break
        case .destinations(_, let places):
            guard places.count == 1, mappings[places[0]].makesAll(of: before.destination) else { return nil }
        case .counterparts, .computed: return nil
        }
        return RowConversion.Reference(from: oldSlot, to: slot, targets: targets)
    }
}

extension ResolvedMapping {
    /// Whether each object of an old entity becomes the new one of its number.
    fileprivate func makesAll(of entityName: String) -> Bool {
        isOneToOne && source?.name == entityName && mapping.mappingType != .add && mapping.sourceFilter == nil
    }
}
