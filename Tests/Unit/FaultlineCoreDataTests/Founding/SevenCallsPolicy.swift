import FaultlineCoreData
import FaultlineDisk
import Synchronization

/// The calls that `SevenCallsPolicy` has got.
final class SevenCalls: Sendable {
    private let texts = Guarded<[String]>([])
    let associates: Bool
    @TaskLocal static var current = SevenCalls(associates: true)

    init(associates: Bool) { self.associates = associates }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock { $0 } }
}

/// Overrides all calls, makes its objects itself, and shares its state in the manager's `userInfo`.
final class SevenCallsPolicy: NSEntityMigrationPolicy {
    private func note(_ call: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
        SevenCalls.current.add(call)
        if manager.currentEntityMapping?.name != mapping.name { SevenCalls.current.add("other mapping") }
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        note("begin", mapping, manager)
        manager.userInfo = ["count": 0]
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("create", mapping, manager)
        if let name = mapping.destinationEntityName,
            let entity = NSEntityDescription.entity(forEntityName: name, in: manager.destinationContext)
        {
            let event = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
            event.setValue(sInstance.value(forKey: "timeStamp"), forKey: "timeStamp")
            event.setValue(NSNumber(value: 1), forKey: "month")
            event.setPrimitiveValue(UInt8(2), forKey: "day")
            event.setValue("", forKey: "memo")
            if SevenCalls.current.associates {
                manager.associate(sourceInstance: sInstance, withDestinationInstance: event, for: mapping)
            }
        }
        manager.userInfo?["count"] = (manager.userInfo?["count"] as? Int ?? 0) + 1
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("endCreation", mapping, manager)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("relate", mapping, manager)
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        if sources.first?.value(forKey: "timeStamp") as? Date != dInstance.value(forKey: "timeStamp") as? Date {
            SevenCalls.current.add("other source")
        }
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("endRelation", mapping, manager)
        let olds = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: nil)
        let news = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        if olds.count != news.count || olds.count != (SevenCalls.current.associates ? 3 : 0) {
            SevenCalls.current.add("\(olds.count) and \(news.count) pairs")
        }
    }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: mapping.destinationEntityName ?? "")
        let count = try manager.destinationContext.count(for: request)
        note("validate \(manager.userInfo?["count"] as? Int == count ? count : -1)", mapping, manager)
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { note("end", mapping, manager) }
}
