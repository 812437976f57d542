public import Foundation
internal import FaultlineLog
internal import FaultlineStore
internal import Synchronization

extension ModelContext {
    /// Posted by a context that has something to save, before it does: who is told may still change things.
    ///
    /// On the thread of the save, with the context as the notification's object.
    public static var willSave: Notification.Name {
        SaveNotifications.begin()
        return SaveNotifications.willSave
    }

    /// Posted by a context when it has saved something, on the thread of the save.
    ///
    /// `userInfo` has sets of `PersistentIdentifier` under the raw values of `NotificationKey`. What delete rules deleted
    /// or cleared is among them, an insert that took the place of a stored object among the updated ones.
    ///
    /// Nothing is collected, or posted, before somebody in the process has asked for one of these two names.
    public static var didSave: Notification.Name {
        SaveNotifications.begin()
        return SaveNotifications.didSave
    }

    /// What `userInfo` of `didSave` says; use the raw values.
    public enum NotificationKey: String, Sendable {
        /// The number of the transaction in its store, as `UInt64`.
        case queryGeneration
        /// Not used: identifiers never become invalid.
        case invalidatedAllIdentifiers
        case insertedIdentifiers
        case updatedIdentifiers
        case deletedIdentifiers
    }

    /// Saves, and tells those who asked to be told.
    func saveTelling() throws {
        guard SaveNotifications.areWanted, core.hasChanges else { return try core.save() }
        try core.checkIsNotSaving()
        core.savePhase = .telling
        NotificationCenter.default.post(name: SaveNotifications.willSave, object: self)
        core.savePhase = .none
        // One who was told of a save may save, too.
        let outer = core.savedIdentifiers
        core.savedIdentifiers = SavedIdentifiers()
        defer { core.savedIdentifiers = outer }
        try core.save()
        guard let saved = core.savedIdentifiers, saved.sequence > 0 else { return }
        NotificationCenter.default.post(name: SaveNotifications.didSave, object: self, userInfo: saved.userInfo)
    }
}

enum SaveNotifications {
    static let willSave = Notification.Name("FaultlineModelContextWillSave")
    static let didSave = Notification.Name("FaultlineModelContextDidSave")
    private static let wanted = Atomic<Bool>(false)

    /// Sets of identifiers cost a save more than the save itself: whoever wants them has asked for a name.
    static func begin() { wanted.store(true, ordering: .relaxed) }
    static var areWanted: Bool { wanted.load(ordering: .relaxed) }
}

/// What a save has written, for those who are told.
struct SavedIdentifiers {
    var inserted: Set<PersistentIdentifier> = []
    var updated: Set<PersistentIdentifier> = []
    var deleted: Set<PersistentIdentifier> = []
    /// The number of the transaction; 0 before there is one.
    var sequence: UInt64 = 0

    var userInfo: [AnyHashable: Any] {
        typealias Key = ModelContext.NotificationKey
        return [
            Key.insertedIdentifiers.rawValue: inserted, Key.updatedIdentifiers.rawValue: updated,
            Key.deletedIdentifiers.rawValue: deleted, Key.queryGeneration.rawValue: sequence,
        ]
    }
}
