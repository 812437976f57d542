internal import Faultline
internal import FaultlineMigration
public import FaultlineObjects

/// The queue that a context is for.
///
/// Without effect: a context belongs to the code that made it, as a `ModelContext` does.
public enum NSManagedObjectContextConcurrencyType: Sendable {
    /// The main queue.
    case mainQueueConcurrencyType
    /// A queue of the app.
    case privateQueueConcurrencyType
}

extension ModelContext {
    /// Makes a context without a store.
    ///
    ///     let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    ///     context.persistentStoreCoordinator = coordinator
    ///
    /// It sees the stores of its coordinator, also those that are added later, from its next call on.
    public convenience init(concurrencyType: NSManagedObjectContextConcurrencyType) {
        self.init(over: CoordinatorLink())
    }

    /// The coordinator whose stores the context is over; nil before it is set, and for a context of a `ModelContainer`.
    ///
    /// Setting another one drops unsaved changes, and the next save says so. The stores of a context that was made from
    /// a `ModelContainer` stay: its next save refuses the change.
    public var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { (owner as? CoordinatorLink)?.coordinator }
        set {
            guard let link = owner as? CoordinatorLink else {
                return refuse(
                    SwiftDataError.missingModelContext.explained(
                        "The context was made from a ModelContainer, and has its stores. Make one by NSManagedObjectContext(concurrencyType:) for a coordinator."
                    ))
            }
            link.coordinator = newValue
        }
    }
}
