internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

// The opening of several stores.

extension StoreParts {
    /// Opens the stores of a request; if one cannot be opened, the others are closed again.
    ///
    /// - Throws: The errors of the openings; `SwiftDataError.duplicateConfiguration` for two configurations that lead to
    ///   one store, or to a store and a copy of it.
    convenience init(_ request: ContainerRequest) throws {
        var opened: [ModelContainer] = []
        do {
            for part in try StoreDivision(request.schema, request.stores).parts {
                let container = try ModelContainer(part.schema, ofOneStore: part.configuration)
                opened.append(container)
                try Self.check(container, besides: opened.dropLast())
            }
        } catch {
            for container in opened { try? container.close() }
            for case let configuration as ModelConfiguration in request.stores {
                configuration.options.migration.options.finishUpdates()
            }
            throw error
        }
        self.init(opened)
    }

    /// Refuses a store that is one of the others, by another path, or a copy of one: objects of both would have the same
    /// identifiers.
    static func check(_ container: ModelContainer, besides others: some Sequence<ModelContainer>) throws {
        let storeID = container.rowStore.log.storeID
        guard let other = others.first(where: { $0.rowStore.log.storeID == storeID }) else { return }
        throw SwiftDataError.duplicateConfiguration.explained(
            "The configurations \(other.configuration.name) and \(container.configuration.name) lead to one store, or to a store and a copy of it. Give each store its own directory."
        )
    }
}
