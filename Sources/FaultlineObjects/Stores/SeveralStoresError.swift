/// Why a container over several stores cannot be made, or cannot answer a call that is about one store.
///
///     do {
///         _ = try ModelContainer(for: schema, configurations: albums, visits)
///     } catch let error as SeveralStoresError where error.code == .relationshipAcrossStores {
///         logger.error("\(error)")
///     }
public struct SeveralStoresError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// A relationship leads from an entity of one store to an entity of another.
        case relationshipAcrossStores
        /// A class is in one store, and the class that it inherits from in another.
        case inheritanceAcrossStores
        /// Two configurations name the same entity.
        case entityInTwoStores
        /// No configuration names an entity, and each configuration has a schema of its own.
        case entityInNoStore
        /// Nothing is left for a configuration.
        case storeWithoutEntities
        /// A migration plan was given for several stores.
        case planOverSeveralStores
        /// The call is about one store, and was made for several.
        case ofOneStore
    }

    /// The kind of error, for programs.
    public let code: Code
    /// The cause and the remedy, in full sentences.
    public let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The error of a call that is about one store.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - receiver: The kind of object that it was made for.
    /// - Returns: The error.
    package static func ofOneStore(_ call: String, _ receiver: String) -> SeveralStoresError {
        SeveralStoresError(
            .ofOneStore,
            "\(call) is about one store, and this \(receiver) is over several. Ask container.store(for:) for the container of a class's store, and call it there."
        )
    }

    /// The message.
    public var description: String { message }
}

extension SeveralStoresError: SwiftDataNamed {
    package func isNamed(_ error: SwiftDataError) -> Bool { error == .loadIssueModelContainer && code != .ofOneStore }
}
