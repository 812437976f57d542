import FaultlineCoreData

// A published policy of Core Data: only the import is another one.

// swift-format-ignore: NeverForceUnwrap
final class DatePartsPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let stamp = source.value(forKey: "timeStamp") as! Date
        let parts = Calendar(identifier: .gregorian).dateComponents([.month, .day], from: stamp)
        let event = NSEntityDescription.insertNewObject(
            forEntityName: mapping.destinationEntityName!, into: manager.destinationContext)
        event.setValue(stamp, forKey: "timeStamp")
        event.setValue(parts.month, forKey: "month")
        event.setValue(parts.day, forKey: "day")
        event.setValue("Good morning!", forKey: "memo")
    }
}
