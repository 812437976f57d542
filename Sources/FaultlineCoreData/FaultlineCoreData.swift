// `import FaultlineCoreData` alone gives a file the names of `import Faultline`, and those of `import CoreData` below.
@_exported public import Faultline

// Names of Core Data for types of Faultline. A name that is missing here has nothing behind it: `NSPredicate` (there is
// `Filter`), subclasses of `NSManagedObject` (there is `@Model`), parents of contexts (there is `perform`). The stack,
// from `NSPersistentStoreCoordinator` to `NSPersistentContainer`, is in the folder of that name.

/// Code that makes the objects of one entity mapping.
///
///     import FaultlineCoreData
///
///     final class LengthPolicy: NSEntityMigrationPolicy {
///         override func createDestinationInstances(
///             forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
///         ) throws {
///             try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
///             let made = manager.destinationInstances(
///                 forEntityMappingName: mapping.name, sourceInstances: [source])
///             let pages = source.value(forKey: "pages") as? Int ?? 0
///             made.first?.setValue(pages > 400 ? "long" : "short", forKey: "length")
///         }
///     }
///
/// All seven calls of Core Data's class are made, in its order.
public typealias NSEntityMigrationPolicy = EntityMigrationPolicy

/// The contexts, models and pairs of objects of a migration, for policies.
///
/// The migration makes it, and passes it to the calls of the policies.
public typealias NSMigrationManager = MigrationManager

/// Describes how objects of one entity become objects of another: a value, where Core Data has a class.
public typealias NSEntityMapping = EntityMapping

/// The kind of a mapping.
public typealias NSEntityMappingType = EntityMapping.MappingType

/// Sets one property of a new object.
public typealias NSPropertyMapping = PropertyMapping

/// The mappings of a migration: a value, made by code, inferred, or read from a file.
public typealias NSMappingModel = MappingModel

/// An object of an entity, whose properties are read and set by name.
public typealias NSManagedObject = ManagedObject

/// The identity of an object.
public typealias NSManagedObjectID = PersistentIdentifier

/// Objects, and their unsaved changes.
public typealias NSManagedObjectContext = ModelContext

/// The entities of a store: a value, made by code, by model classes, or from the files of an app.
public typealias NSManagedObjectModel = Schema

/// A kind of object: its name and its properties.
public typealias NSEntityDescription = Schema.Entity

/// Selects objects of an entity; its filter is a `Filter`, where Core Data has a predicate.
///
///     let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
///     let events = try manager.destinationContext.fetch(request)
public typealias NSFetchRequest<ResultType: ManagedObject> = FetchRequest
