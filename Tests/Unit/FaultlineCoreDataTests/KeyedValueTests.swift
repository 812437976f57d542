import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Values by name, with the conversions of Core Data.
struct KeyedValueTests {
    private static let model = NSManagedObjectModel(
        Schema.Entity(
            "Thing",
            properties: Schema.Attribute(name: "small", valueType: Int16.self, defaultValue: Int16(0)),
            Schema.Attribute(name: "whole", valueType: Int.self, defaultValue: 0),
            Schema.Attribute(name: "large", valueType: UInt64.self, defaultValue: UInt64(0)),
            Schema.Attribute(name: "flag", valueType: Bool.self, defaultValue: false),
            Schema.Attribute(name: "float", valueType: Float.self, defaultValue: Float(0)),
            Schema.Attribute(name: "double", valueType: Double.self, defaultValue: 0.0),
            Schema.Attribute(name: "price", valueType: Decimal.self, defaultValue: Decimal(0)),
            Schema.Attribute(name: "date", valueType: Date?.self),
            Schema.Attribute(name: "data", valueType: Data?.self),
            Schema.Attribute(name: "text", valueType: String?.self),
            Schema.Attribute(name: "id", valueType: UUID?.self),
            Schema.Relationship(name: "parent", destination: "Thing", isToOne: true, inverseName: "children"),
            Schema.Relationship(name: "children", destination: "Thing", isToOne: false, inverseName: "parent")))

    /// A context of a store in memory; it keeps its container alive.
    private func makeContext() throws -> NSManagedObjectContext {
        ModelContext(
            try ModelContainer(for: Self.model, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    }

    /// A saved object, and its context, which an object does not keep alive.
    private func stored(_ values: [String: Any]) throws -> (NSManagedObject, NSManagedObjectContext) {
        let context = try makeContext()
        context.make("Thing", values)
        try context.save()
        return (try #require(try context.all("Thing").first), context)
    }

    // MARK: Reading

    @Test func `a number is read as each type that holds it`() throws {
        let (thing, context) = try stored([
            "small": 300, "whole": -7, "large": UInt64.max, "flag": true, "float": 1.5, "double": 2,
            "price": Decimal(string: "9.99") ?? 0,
        ])
        #expect(thing.value(forKey: "small") as? Int == 300 && thing.value(forKey: "small") as? Int16 == 300)
        #expect(thing.value(forKey: "small") as? Double == 300 && thing.value(forKey: "small") as? Int8 == nil)
        #expect(thing.value(forKey: "small") as? NSNumber == 300)
        #expect(thing.value(forKey: "whole") as? Int64 == -7 && thing.value(forKey: "whole") as? UInt == nil)
        #expect(thing.value(forKey: "large") as? UInt64 == .max && thing.value(forKey: "large") as? Int == nil)
        #expect(thing.value(forKey: "flag") as? Bool == true && thing.value(forKey: "flag") as? Int == 1)
        #expect(thing.value(forKey: "float") as? Double == 1.5 && thing.value(forKey: "float") as? Float == 1.5)
        #expect(thing.value(forKey: "double") as? Int == 2)
        #expect(thing.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "9.99"))
        #expect(thing.value(forKey: "price") as? Decimal == Decimal(string: "9.99"))
        // The subscript gives the declared type.
        #expect(thing["small"] as? Int16 == 300 && thing["small"] as? Int == nil)
        #expect(thing.primitiveValue(forKey: "small") as? Int == 300)
        #expect(!context.hasChanges)
    }

    @Test func `other values are Foundation's, or bridge to it`() throws {
        let date = Date(timeIntervalSinceReferenceDate: 1_000)
        let id = UUID()
        let (thing, context) = try stored([
            "date": NSDate(timeIntervalSinceReferenceDate: 1_000), "data": NSData(data: Data([1, 2])),
            "text": NSString(string: "text"), "id": id,
        ])
        #expect(thing.value(forKey: "date") as? Date == date && thing.value(forKey: "date") as? NSDate != nil)
        #expect(thing.value(forKey: "data") as? Data == Data([1, 2]) && thing.value(forKey: "data") as? NSData != nil)
        #expect(thing.value(forKey: "text") as? String == "text" && thing.value(forKey: "text") as? NSString == "text")
        #expect(thing.value(forKey: "id") as? UUID == id)
        #expect(thing.managedObjectContext === context)
        let all = thing.dictionaryWithValues(forKeys: ["text", "parent", "whole"])
        #expect(all["text"] as? String == "text" && all["parent"] is NSNull && all["whole"] as? Int == 0)
    }

    @Test func `a to-many relationship is a set, and a path goes along it`() throws {
        let context = try makeContext()
        let children = (1...3).map { context.make("Thing", ["whole": $0, "flag": $0 > 1]) }
        let parent = context.make("Thing", ["text": "parent", "children": NSSet(array: children)])
        try context.save()
        #expect(parent.value(forKey: "children") as? Set<NSManagedObject> == Set(children))
        #expect((parent.value(forKey: "children") as? NSSet)?.count == 3)
        #expect((parent["children"] as? [NSManagedObject])?.count == 3)
        #expect((parent.value(forKeyPath: "children.whole") as? [Int])?.sorted() == [1, 2, 3])
        #expect(parent.value(forKeyPath: "children.@count") as? Int == 3)
        #expect(parent.value(forKeyPath: "children.@sum.whole") as? Int16 == 6)
        #expect(children[0].value(forKeyPath: "parent.text") as? String == "parent")
        #expect(children[0].value(forKeyPath: "parent.children") as? Set<NSManagedObject> == Set(children))
        children[0].setValue(NSNumber(value: 9), forKeyPath: "parent.small")
        #expect(parent.value(forKey: "small") as? Int == 9)
        parent.setValue(NSOrderedSet(array: [children[2]]), forKey: "children")
        try context.save()
        #expect(parent.value(forKey: "children") as? Set<NSManagedObject> == [children[2]])
        parent.setValue(Set<NSManagedObject>(), forKey: "children")
        parent.setValue([children[1]], forKey: "children")
        #expect(children[1].value(forKey: "parent") as? NSManagedObject === parent)
    }

    @Test func `a path over many gives a set if a to-many relationship ends it, else an array`() throws {
        let context = try makeContext()
        let children = (1...3).map { context.make("Thing", ["whole": $0]) }
        let parent = context.make("Thing", ["children": children])
        try context.save()
        #expect(parent.value(forKeyPath: "children.parent") as? [NSManagedObject] == [parent, parent, parent])
        #expect(parent.value(forKeyPath: "children.parent.whole") as? [Int] == [0, 0, 0])
        #expect(parent.value(forKeyPath: "children.parent.children") as? Set<NSManagedObject> == Set(children))
        // Without members.
        let child = children[0]
        for path in ["children.whole", "children.parent", "parent.children.text"] {
            let value = try #require(child.value(forKeyPath: path))
            #expect((value as? [Any])?.isEmpty == true && value as? NSSet == nil, "\(path)")
        }
        #expect(child.value(forKeyPath: "children.whole") as? [Int] == [])
        #expect((child.value(forKeyPath: "children.children") as? NSSet)?.count == 0)
        #expect((child.value(forKey: "children") as? NSSet)?.count == 0)
        #expect(child.value(forKeyPath: "children.@count") as? Int == 0)
        #expect(context.make("Thing", [:]).value(forKeyPath: "parent.children") == nil)
    }

    // MARK: Setting

    @Test func `numbers and flags are taken in each form that fits`() throws {
        let (thing, context) = try stored([
            "small": NSNumber(value: -5), "whole": 7.0, "large": true, "flag": 1, "float": 0.1, "double": Int8(3),
            "price": NSDecimalNumber(string: "0.01"),
        ])
        #expect(thing["small"] as? Int16 == -5 && thing["whole"] as? Int == 7 && thing["large"] as? UInt64 == 1)
        #expect(thing["flag"] as? Bool == true && thing["float"] as? Float == 0.1 && thing["double"] as? Double == 3)
        #expect(thing["price"] as? Decimal == Decimal(string: "0.01"))
        thing.setValue(NSNull(), forKey: "text")
        thing.setValue(-0.0, forKey: "double")
        thing.setPrimitiveValue(NSNumber(value: 4), forKey: "price")
        #expect((thing["double"] as? Double)?.sign == .minus && thing["price"] as? Decimal == 4)
        try context.save()
    }

    @Test(arguments: [
        ("small", 32_768 as any Sendable), ("small", NSNumber(value: -32_769)), ("small", 1.5), ("small", "1"),
        ("large", -1), ("flag", 2), ("flag", "true"), ("double", Int.max), ("float", 1e300), ("price", 1.5),
        ("date", 5), ("data", "text"), ("text", 7), ("text", Data()), ("id", "no"), ("parent", 1),
    ])
    func `a value that does not fit changes nothing, and the save throws`(
        _ key: String, _ value: any Sendable
    ) throws {
        let (thing, context) = try stored(["text": "before"])
        let before = thing.value(forKey: key) as? NSObject
        thing.setValue(value, forKey: key)
        #expect(thing.value(forKey: key) as? NSObject == before)
        let error = #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.save()
        }
        let text = String(describing: error)
        #expect(text.contains("Thing.\(key)"))
    }

    @Test func `sets of other things, nil for a required value, and unknown names are refused`() throws {
        let (thing, context) = try stored([:])
        for (key, value) in [("children", NSSet(array: [1])), ("whole", NSNull()), ("smal", 1)] as [(String, Any)] {
            thing.setValue(value, forKey: key)
            #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
            context.rollback()
        }
        thing.setValue(1, forKeyPath: "parent.small")
        try context.save()
        thing.setValue(1, forKeyPath: "text.small")
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(thing.value(forKey: "smal") == nil && thing.value(forKeyPath: "text.small") == nil)
    }

    // MARK: Inserting

    @Test func `an unknown entity gives an object that takes nothing, and the save throws`() throws {
        let context = try makeContext()
        let object = NSEntityDescription.insertNewObject(forEntityName: "Thin", into: context)
        object.setValue(1, forKey: "whole")
        #expect(object.value(forKey: "whole") == nil && object.managedObjectContext == nil)
        let error = #expect(throws: SwiftDataError.unknownSchema) { try context.save() }
        let text = String(describing: error)
        #expect(text.contains("Did you mean \"Thing\"?"))
        #expect(NSEntityDescription.entity(forEntityName: "Thin", in: context) == nil)
        #expect(NSEntityDescription.entity(forEntityName: "Thing", in: context)?.attributesByName.count == 11)
    }
}
