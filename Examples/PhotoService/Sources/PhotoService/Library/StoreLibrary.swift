import Faultline
package import FaultlineService
package import PhotoAPI

/// The library of photos in a store.
package struct StoreLibrary: PhotoLibrary {
    let store: StoreService

    package init(_ store: StoreService) { self.store = store }

    package func health() async -> LibraryHealth {
        let health = store.health
        return LibraryHealth(
            isReady: health.isReady, status: health.status.rawValue, details: health.description)
    }

    /// Runs code with a context; a client is told if that does not begin in time.
    func perform<R: Sendable>(
        _ name: String = #function, _ body: @Sendable (ModelContext) throws -> R
    ) async throws -> R {
        try await answering { try await store.perform(name, body) }
    }

    /// Runs code that saves; its thread serves others while the disk synchronizes.
    func change<R: Sendable>(
        _ name: String = #function, _ body: @Sendable (TaskContext) async throws -> R
    ) async throws -> R {
        try await answering { try await store.perform(name, body) }
    }

    /// Makes the error of a call that waited too long one that a client understands.
    private func answering<R>(_ call: () async throws -> R) async throws -> R {
        do { return try await call() } catch let error as StorageError where error.code == .busy {
            throw LibraryError.busy
        }
    }
}

extension ModelContext {
    /// The object of a key that a client sent; nil if it leads to nothing.
    func object<T: PersistentModel>(_ key: String, as type: T.Type = T.self) throws -> T? {
        // An object has one address: no sign, no leading zeros.
        guard let number = UInt64(key), String(number) == key else { return nil }
        return try existing(primaryKey: number, as: type)
    }

    /// The object of a key that a client sent for something that is to be added to it.
    func required<T: PersistentModel>(_ key: String, as type: T.Type = T.self) throws -> T {
        guard let object = try object(key, as: type) else {
            throw LibraryError.missing("There is no \(T.self) \(key).")
        }
        return object
    }
}

extension PersistentModel {
    /// The key of a saved object, as clients know it.
    var key: String { String(persistentModelID.primaryKey ?? 0) }
}
