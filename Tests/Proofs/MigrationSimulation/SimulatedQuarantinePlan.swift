internal import Faultline
internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

/// A variant of `SimulatedPlan` in which two persons cannot be converted.
enum SimulatedQuarantinePlan: SchemaMigrationPlan {
    static let failing = 2...3

    struct Failed: Error {}

    static var schemas: [any VersionedSchema.Type] { [Simulated1.self, Simulated2.self] }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Simulated1.self, toVersion: Simulated2.self,
                StreamedEntity(Simulated1.Person.self) { old, output in
                    try output.insert(Simulated2.Person(old, output))
                    if failing.contains(old.number) { throw Failed() }
                })
        ]
    }
}

/// The same by mappings, the last of which refuses the two persons; the objects made from them by the others are
/// removed.
enum SimulatedMappedQuarantinePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Simulated1.self, Simulated2.self] }
    static var stages: [MigrationStage] {
        guard case .mappedEntities(_, _, _, let models)? = SimulatedMappedPlan.stages.first else { return [] }
        var mappings = models.flatMap(\.entityMappings)
        mappings.append(
            EntityMapping(
                from: "Person", to: "Photo", name: "refusals",
                attributes: [
                    PropertyMapping("bytes", .computed { _, _ in throw SimulatedQuarantinePlan.Failed() })
                ],
                where: .matching { SimulatedQuarantinePlan.failing.contains($0["number"] as? Int ?? 0) }))
        return [
            .mapped(fromVersion: Simulated1.self, toVersion: Simulated2.self, MappingModel(entityMappings: mappings))
        ]
    }
}

extension SimulatedWork {
    /// The difference from the expected new state with two persons in the quarantine; nil if there is none.
    func quarantineFault(_ context: ModelContext) throws -> String? {
        let failing = SimulatedQuarantinePlan.failing
        if let fault = try newFault(context, without: failing) { return fault }
        var found: [UInt64] = []
        var fault: String?
        let quarantine = try context.container.quarantine()
        try quarantine.enumerate { object in
            found.append(object.number)
            let number = Int(object.number) - 1
            let isWhole =
                object["number"] == .integer(Int64(number)) && object["name"] == .string("f\(number) l\(number)")
            let bytes = try quarantine.bytes(of: "photo", in: object)
            if !isWhole || bytes != oldPhoto(number) { fault = "person \(number) in the quarantine is another" }
        }
        if let fault { return fault }
        guard found == failing.map({ UInt64($0) + 1 }) else { return "\(found) in the quarantine" }
        var related: [String] = []
        try quarantine.enumerateRelated { related.append("\($0.entityName).\($0.propertyName) \($0.numbers)") }
        return related == ["Note.person [2]"] ? nil : "\(related) refer to the quarantine"
    }
}
