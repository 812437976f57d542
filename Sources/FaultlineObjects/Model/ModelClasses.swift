internal import FaultlineDisk
internal import Synchronization

/// A cache of the known model classes: testing a class for the protocol walks through all conformances of the process
/// at first, and opening a store tests every class.
enum ModelClasses {
    private static let known = Guarded<[ObjectIdentifier: any PersistentModel.Type]>([:])

    /// Adds a model class.
    static func note(_ model: any PersistentModel.Type) {
        known.withLock { $0[ObjectIdentifier(model)] = model }
    }

    /// Casts a type to a model class; nil for all other types.
    static func find(_ type: any Any.Type) -> (any PersistentModel.Type)? {
        guard type is AnyClass else { return nil }
        if let model = known.withLock({ $0[ObjectIdentifier(type)] }) { return model }
        guard let model = type as? any PersistentModel.Type else { return nil }
        note(model)
        return model
    }
}
