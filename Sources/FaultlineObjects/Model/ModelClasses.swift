internal import FaultlineDisk
internal import Synchronization

/// The model classes that were seen, so that a class need not be asked whether it is one: the first question walks
/// through all conformances of the process, and opening a store would ask it of every class.
enum ModelClasses {
    private static let known = Guarded<[ObjectIdentifier: any PersistentModel.Type]>([:])

    /// Notes a model class.
    static func note(_ model: any PersistentModel.Type) {
        known.withLock { $0[ObjectIdentifier(model)] = model }
    }

    /// A type as a model class; nil for all other types.
    static func find(_ type: any Any.Type) -> (any PersistentModel.Type)? {
        guard type is AnyClass else { return nil }
        if let model = known.withLock({ $0[ObjectIdentifier(type)] }) { return model }
        guard let model = type as? any PersistentModel.Type else { return nil }
        note(model)
        return model
    }
}
