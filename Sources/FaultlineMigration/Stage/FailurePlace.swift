internal import FaultlineObjects

/// The entity, the property and the object that the error of a call names.
struct FailurePlace {
    private(set) var entity: String?
    private(set) var property: String?
    /// Nil for an object that was never saved.
    private(set) var object: UInt64?

    init(of error: any Error) {
        switch error {
        case let error as MigrationError:
            (entity, property, object) = (error.entityName, error.propertyName, error.object)
        case let error as SwiftDataError:
            if let finding = error.findings.first {
                (entity, property) = (finding.object.entityName, finding.propertyName)
                object = finding.object.isTemporary ? nil : finding.object.number
            } else {
                (entity, property) = (error.place?.entityName, error.place?.propertyName)
            }
        default: break
        }
    }
}
