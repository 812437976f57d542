internal import FaultlineModel
internal import FaultlineObjects

extension MigrationSteps {
    /// Refuses two schemas of one fingerprint where an entity, or a property, takes the name of another one by an
    /// original name: they exchange names, or pass them on (`b` was named `a`, and `c` was named `b`).
    ///
    /// Fingerprints leave original names out, so there would be no migration, and the values of each would be read
    /// under the name of another. Both schemas have the same names, so any change of a name is of this kind.
    ///
    /// - Throws: `MigrationError` of code `twinVersions`, with entity and property.
    /// - Complexity: That of `SchemaDifference`, unless the schemas are equal.
    static func checkNames(from stored: Schema, to target: Schema) throws(MigrationError) {
        guard stored != target else { return }
        let difference = target.difference(from: stored)
        if let entity = renamed(difference.oldEntityNames) {
            throw refusal(stored, target, entity, nil, difference.oldEntityNames[entity] ?? "")
        }
        for entity in target.entities {
            let oldNames = difference.oldPropertyNames[entity.name] ?? [:]
            guard let property = renamed(oldNames) else { continue }
            throw refusal(stored, target, entity.name, property, oldNames[property] ?? "")
        }
    }

    /// The first name whose item had another one.
    private static func renamed(_ oldNames: [String: String]) -> String? {
        oldNames.keys.sorted().first { oldNames[$0] != $0 }
    }

    private static func refusal(
        _ stored: Schema, _ target: Schema, _ entity: String, _ property: String?, _ old: String
    ) -> MigrationError {
        let place = property.map { "\(entity).\($0)" } ?? entity
        return MigrationError(
            .twinVersions,
            "\(place) takes the name of another one, and was named \(old), while both schemas have one fingerprint: the store cannot tell whether the names were changed already. If they were not, give a property of \(entity) a hashModifier in the new schema, so that it differs; if they were, leave the original name out.",
            stage: "\(stored.version) → \(target.version)", entity: entity, property: property
        ).comparing(SchemaMismatch(stored: stored, requested: target))
    }
}
