import Faultline
import FaultlineDisk
import Synchronization

/// The objects of a store, each as a line of text.
///
/// Equal stores give equal lines.
///
/// Objects are in the order of their creation, and references refer to positions in it, not to identifiers.
struct StoreContents {
    let lines: [String]

    init(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        let met = FirstError()
        context.errorHandler = { met.note($0) }
        let entities = container.schema.entities.sorted { $0.name < $1.name }
        var objects: [(entity: Schema.Entity, objects: [ManagedObject])] = []
        var places: [PersistentIdentifier: Int] = [:]
        for entity in entities {
            let found = try context.fetch(FetchRequest(entityName: entity.name))
            for (place, object) in found.enumerated() { places[object.objectID] = place }
            objects.append((entity, found))
        }
        var lines: [String] = []
        for (entity, found) in objects {
            let properties = entity.properties.map(\.name).sorted()
            for (place, object) in found.enumerated() {
                let values = properties.map { "\($0)=\(Self.text(object[$0], places))" }
                lines.append("\(entity.name)[\(place)] \(values.joined(separator: " "))")
            }
        }
        // A value that cannot be read is nil, and an error.
        if let error = met.error { throw error }
        self.lines = lines
    }

    private static func text(_ value: Any?, _ places: [PersistentIdentifier: Int]) -> String {
        func place(_ object: ManagedObject) -> String {
            "\(object.entity.name)[\(places[object.objectID].map(String.init) ?? "?")]"
        }
        switch value {
        case nil: return "nil"
        case let object as ManagedObject: return place(object)
        case let members as [ManagedObject]: return "[\(members.map(place).joined(separator: ", "))]"
        case let data as Data: return data.base64EncodedString()
        case let text as String: return "\"\(text)\""
        case let date as Date: return "\(date.timeIntervalSinceReferenceDate)"
        case let value?: return "\(value)"
        }
    }
}

private final class FirstError: Sendable {
    private let first = Guarded<(any Error)?>(nil)
    var error: (any Error)? { first.withLock { $0 } }

    func note(_ error: any Error) { first.withLock { $0 = $0 ?? error } }
}
