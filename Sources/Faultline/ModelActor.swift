internal import Dispatch
public import FaultlineObjects

/// Runs code that uses one model context.
public protocol ModelExecutor: Executor {
    /// The context, which only jobs of this executor may use.
    var modelContext: ModelContext { get }
}

/// A model executor that runs one job after the other.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

// Safe because the context is used by jobs of the queue only, one after the other.
/// Runs the jobs of a model actor on a queue of its own, so that blocking reads never hold up Swift's shared threads.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
    /// The context that the actor's code uses, by jobs of the queue only.
    public let modelContext: ModelContext
    private let queue = DispatchQueue(label: "faultline.model-actor")

    /// Makes an executor for a context.
    public init(modelContext: ModelContext) {
        self.modelContext = modelContext
        modelContext.runs(on: queue)
    }

    /// Puts a job at the end of the queue; returns at once.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The executor outlives the job: the last step of a job may release its actor, on another thread.
        queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// This executor, not retained: the actor that runs on it has to keep it alive.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

/// An actor that owns a model context: the `@ModelActor` macro makes an actor conform.
public protocol ModelActor: Actor {
    /// The container of the context: pass it to other actors.
    nonisolated var modelContainer: ModelContainer { get }
    /// The executor that owns the context.
    nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
    /// The executor that the actor runs on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        guard let executor = modelExecutor as? any SerialModelExecutor else {
            preconditionFailure("A model actor needs a serial executor: use DefaultSerialModelExecutor.")
        }
        return executor.asUnownedSerialExecutor()
    }

    /// The actor's context.
    public var modelContext: ModelContext { modelExecutor.modelContext }

    /// The object of an identifier, if there is one and it is of the type; as `ModelContext.existing(_:as:)`.
    ///
    /// Nil also if the store cannot be read; the error goes to the context's `errorHandler`.
    ///
    /// - Complexity: O(1): looks at one entry of the location table, and reads no row.
    public subscript<T: PersistentModel>(id: PersistentIdentifier, as type: T.Type) -> T? {
        do { return try modelContext.existing(id, as: type) } catch {
            modelContext.errorHandler?(error)
            return nil
        }
    }
}
