internal import Faultline
internal import Foundation

/// The first stage of `SimulatedCustomPlan`, and a streamed one for the second.
///
/// The streamed stage takes over values of the first one and replaces them later, so it must find them again after a
/// cut: it reads all of them.
enum SimulatedLaterPlan: SchemaMigrationPlan {
    struct Lost: Error {}

    static var schemas: [any VersionedSchema.Type] { SimulatedCustomPlan.schemas }
    static var stages: [MigrationStage] {
        SimulatedCustomPlan.stages.prefix(1) + [
            .streamed(
                fromVersion: SimulatedCustom2.self, toVersion: SimulatedCustom3.self,
                StreamedEntity(SimulatedCustom2.Town.self) { old, output in
                    let new = SimulatedCustom3.Town(name: old.name)
                    new.setBlob(old.blob(\.map), for: \.map)
                    try output.insert(new)
                },
                StreamedEntity(SimulatedCustom2.Person.self) { old, output in
                    let number = old.number
                    // The photos of the first stage are carried over until the first one is set.
                    if number % 8 == 0, old.photo != SimulatedWork.photo(of: number, 2) { throw Lost() }
                    let new = SimulatedCustom3.Person(number: number)
                    new.first = old.first
                    new.last = old.last
                    if number % 8 != 0, let photo = old.blob(\.photo) { new.setBlob(photo, for: \.photo) }
                    for town in old.places {
                        guard let last = town.people.map(\.number).max(),
                            town.map == SimulatedWork.photo(of: last, 3)
                        else { throw Lost() }
                        let replacing = SimulatedCustom3.Town(name: town.name)
                        replacing.map = SimulatedWork.photo(of: town.people.count, 4)
                        new.places.append(try output.upsert(replacing))
                    }
                    try output.insert(new)
                })
        ]
    }
}
