import FaultlineCoreData

// A published policy of Core Data: only the import is another one.

final class SplitPhotoPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        guard let bytes = source.value(forKey: "photo") as? Data else { return }
        let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: manager.destinationContext)
        photo.setValue(bytes, forKey: "photo")
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
        made.last?.setValue(photo, forKey: "profile")
    }
}
