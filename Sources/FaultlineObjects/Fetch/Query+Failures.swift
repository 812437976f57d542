internal import FaultlineModel

/// Explains for which object and property an operation of a predicate failed.
extension Query {
    static func explain(_ failure: ArithmeticFailure, _ object: T, _ home: EntityHome) -> SwiftDataError {
        let properties = home.type?.entity.properties ?? []
        let names = failure.keyPaths.compactMap { keyPath in
            home.type?.slots[keyPath].flatMap { $0 < properties.count ? properties[$0].name : nil }
        }
        let entity = home.entityName
        let place = names.isEmpty ? entity : names.map { "\(entity).\($0)" }.joined(separator: ", ")
        let identifier = object.persistentModelID
        return SwiftDataError.unsupportedPredicate.explained(
            "The predicate cannot be evaluated for \(place) of object \(identifier.number): \(failure.text). Leave such objects out by a condition in front, joined by &&, or compute with a larger type."
        )
    }
}
