internal import FaultlineModel
internal import FaultlineObjects

extension MigrationSteps {
    /// Refuses two schemas of one fingerprint that exchange names of entities, or of properties, by original names.
    ///
    /// Fingerprints leave original names out, so there would be no migration, and each object would be read under the
    /// name of the other.
    ///
    /// - Throws: `MigrationError` of code `twinVersions`, with entity and property.
    /// - Complexity: That of `SchemaDifference`, unless the schemas are equal.
    static func checkNames(from stored: Schema, to target: Schema) throws(MigrationError) {
        guard stored != target else { return }
        let difference = target.difference(from: stored)
        if let entity = exchanged(difference.oldEntityNames) {
            throw refusal(stored, target, entity, nil, difference.oldEntityNames[entity] ?? "")
        }
        for entity in target.entities {
            let oldNames = difference.oldPropertyNames[entity.name] ?? [:]
            guard let property = exchanged(oldNames) else { continue }
            throw refusal(stored, target, entity.name, property, oldNames[property] ?? "")
        }
    }

    /// The first name whose old names lead back to it: another item has its old name.
    private static func exchanged(_ oldNames: [String: String]) -> String? {
        oldNames.keys.sorted().first { name in
            guard var old = oldNames[name], old != name else { return false }
            for _ in oldNames where old != name {
                guard let next = oldNames[old] else { return false }
                old = next
            }
            return old == name
        }
    }

    private static func refusal(
        _ stored: Schema, _ target: Schema, _ entity: String, _ property: String?, _ old: String
    ) -> MigrationError {
        let place = property.map { "\(entity).\($0)" } ?? entity
        return MigrationError(
            .twinVersions,
            "\(place) takes the name of another one, and was named \(old), while both schemas have one fingerprint: the store cannot tell whether the names were exchanged already. Give a property of \(entity) a hashModifier in the new schema, so that it differs.",
            stage: "\(stored.version) → \(target.version)", entity: entity, property: property
        ).comparing(SchemaMismatch(stored: stored, requested: target))
    }
}
