public import Foundation
internal import FaultlineLog
internal import FaultlineStore
internal import Synchronization

extension ModelContext {
    /// Posted by a context before it saves changes: an observer may still change objects.
    ///
    /// Posted on the thread of the save, with the context as the notification's object.
    public static var willSave: Notification.Name {
        SaveNotifications.begin()
        return SaveNotifications.willSave
    }

    /// Posted by a context when it has saved changes, on the thread of the save.
    ///
    /// `userInfo` has sets of `PersistentIdentifier` under the raw values of `NotificationKey`. They include objects
    /// that delete rules deleted or changed; an insert that replaced a stored object is among the updated ones.
    ///
    /// Nothing is collected, or posted, before code in the process has read one of these two names.
    public static var didSave: Notification.Name {
        SaveNotifications.begin()
        return SaveNotifications.didSave
    }

    /// The keys of `didSave`'s `userInfo`; use the raw values.
    public enum NotificationKey: String, Sendable {
        /// The number of the transaction in its store, as `UInt64`.
        case queryGeneration
        /// Not used: identifiers never become invalid.
        case invalidatedAllIdentifiers
        /// The identifiers of the objects that the save added.
        case insertedIdentifiers
        /// The identifiers of the objects that the save changed.
        case updatedIdentifiers
        /// The identifiers of the objects that the save deleted, those included that a delete rule deleted.
        case deletedIdentifiers
    }

    /// Saves, and posts notifications if they are wanted.
    func saveTelling() throws {
        guard SaveNotifications.areWanted, core.hasChanges else { return try core.save() }
        let outer = try beginTelling()
        defer { core.saving.identifiers = outer }
        try core.save()
        tellSaved()
    }

    /// Saves all stores, and posts notifications if they are wanted: one before, and one for each store that was saved.
    func saveParts() throws {
        guard let parts else { return }
        let cores = parts.cores
        guard SaveNotifications.areWanted, hasChanges else {
            return try throwingPublicly { try SaveOfParts(parts).run() }
        }
        var outers: [SavedIdentifiers?] = []
        try throwingPublicly {
            for core in cores { try LifecycleCalls(core).checkIsNotSaving() }
            for core in cores { core.saving.phase = .telling }
            NotificationCenter.default.post(name: SaveNotifications.willSave, object: self)
            for core in cores { core.saving.phase = .none }
            for core in cores {
                outers.append(core.saving.identifiers)
                core.saving.identifiers = SavedIdentifiers()
            }
        }
        defer { for (core, outer) in zip(cores, outers) { core.saving.identifiers = outer } }
        let result = Result { try throwingPublicly { try SaveOfParts(parts).run() } }
        // Stores that were saved are told, even if another one was not.
        for core in cores { tellSaved(core) }
        try result.get()
    }

    private func throwingPublicly(_ body: () throws -> Void) throws {
        do { try body() } catch { throw StorageError.translating(error) }
    }

    /// Saves like `saveTelling`, and suspends the task while the transaction is written.
    ///
    /// Nothing may use the context in the meantime.
    nonisolated(nonsending) package func saveSuspending() async throws {
        guard parts == nil else { return try saveParts() }
        guard SaveNotifications.areWanted, core.hasChanges else { return try await core.saveSuspending() }
        let outer = try beginTelling()
        defer { core.saving.identifiers = outer }
        try await core.saveSuspending()
        tellSaved()
    }

    /// Posts that a save begins.
    ///
    /// - Returns: The objects of the save that this one is called in, to be put back.
    private func beginTelling() throws -> SavedIdentifiers? {
        try LifecycleCalls(core).checkIsNotSaving()
        core.saving.phase = .telling
        NotificationCenter.default.post(name: SaveNotifications.willSave, object: self)
        core.saving.phase = .none
        // An observer of a save may save, too.
        let outer = core.saving.identifiers
        core.saving.identifiers = SavedIdentifiers()
        return outer
    }

    private func tellSaved() { tellSaved(core) }

    private func tellSaved(_ core: ContextCore) {
        guard let saved = core.saving.identifiers, saved.sequence > 0 else { return }
        NotificationCenter.default.post(name: SaveNotifications.didSave, object: self, userInfo: saved.userInfo)
    }
}

extension ContextCore {
    /// Saves, and suspends the task while the transaction is written.
    nonisolated(nonsending) fileprivate func saveSuspending() async throws {
        do {
            if let stage { try stage.onUse?() }
            settleMembers()
            guard let queued = try queueSave(isSuspending: true) else { return }
            if let wait = queued.wait {
                await withCheckedContinuation { continuation in wait.whenDone { continuation.resume() } }
            }
            try queued.end()
        } catch {
            let error = StorageError.translating(error)
            stage?.note(error)
            throw error
        }
    }
}

enum SaveNotifications {
    static let willSave = Notification.Name("FaultlineModelContextWillSave")
    static let didSave = Notification.Name("FaultlineModelContextDidSave")
    private static let wanted = Atomic<Bool>(false)

    /// Collecting identifiers costs more than the save itself: it begins when code reads one of the names.
    static func begin() { wanted.store(true, ordering: .relaxed) }
    static var areWanted: Bool { wanted.load(ordering: .relaxed) }
}

extension SavedIdentifiers {
    fileprivate var userInfo: [AnyHashable: Any] {
        typealias Key = ModelContext.NotificationKey
        return [
            Key.insertedIdentifiers.rawValue: inserted, Key.updatedIdentifiers.rawValue: updated,
            Key.deletedIdentifiers.rawValue: deleted, Key.queryGeneration.rawValue: sequence,
        ]
    }
}
