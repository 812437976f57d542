internal import FaultlineModel
internal import FaultlineObjects

// The opening of one store, or of several.

extension ModelContainer {
    /// Opens the stores of a request.
    convenience init(of request: ContainerRequest) throws {
        if request.stores.count > 1 {
            try self.init(
                over: StoreParts(request), EmptyStore.rows, request.schema, request.configuration.options.performing)
        } else {
            try self.init(request)
        }
    }
}
