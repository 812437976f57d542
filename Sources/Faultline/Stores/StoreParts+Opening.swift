internal import FaultlineModel

// The opening of several stores.

extension StoreParts {
    /// Opens the stores of a request; if one cannot be opened, the others are closed again.
    convenience init(_ request: ContainerRequest) throws {
        var opened: [ModelContainer] = []
        do {
            for part in try StoreDivision(request.schema, request.stores).parts {
                opened.append(try ModelContainer(part.schema, ofOneStore: part.configuration))
            }
        } catch {
            for container in opened { try? container.close() }
            throw error
        }
        self.init(opened)
    }
}
