public import FaultlineMigration

extension PropertyMapping {
    /// The property of the new entity, never nil.
    public var name: String? {
        get { self.FaultlineMigration::name }
        set { self.FaultlineMigration::name = newValue ?? "" }
    }
}
