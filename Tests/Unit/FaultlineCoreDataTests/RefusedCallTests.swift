import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Calls of policies that cannot throw: a wrong one stops the migration, and the old store stays as it was.
struct RefusedCallTests {
    /// The wrong calls, each of them on its own.
    enum Wrong: String, CaseIterable, Sendable {
        case mapping, sources, entity, pair, key, range
    }

    final class WrongPolicy: NSEntityMigrationPolicy {
        @TaskLocal static var wrong = Wrong.mapping

        override func createDestinationInstances(
            forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            switch Self.wrong {
            case .mapping:
                #expect(
                    manager.destinationInstances(forEntityMappingName: "Event->Evnt", sourceInstances: [sInstance])
                        == [])
            case .sources:
                #expect(
                    manager.sourceInstances(forEntityMappingName: "Event->Evnt", destinationInstances: made) == [])
            case .entity:
                let object = NSEntityDescription.insertNewObject(
                    forEntityName: "Evnt", into: manager.destinationContext)
                object.setValue("x", forKey: "memo")
            case .pair:
                let other = NSEntityMapping(from: "A", to: "B")
                manager.associate(sourceInstance: sInstance, withDestinationInstance: made[0], for: other)
            case .key: made.first?.setValue("x", forKey: "mmo")
            case .range: made.first?.setValue(100_000, forKey: "day")
            }
        }
    }

    private static let texts: [Wrong: String] = [
        .mapping: "Did you mean \"Event->Event\"?", .sources: "Did you mean \"Event->Event\"?",
        .entity: "Did you mean \"Event\"?", .pair: "There is no mapping \"A->B\"", .key: "Did you mean \"memo\"?",
        .range: "Event.day was set to 100000",
    ]

    @Test(arguments: Wrong.allCases) func `a wrong call stops the migration`(_ wrong: Wrong) throws {
        let place = StorePlace()
        try place.use(CalendarModel.withDates) { _, context in
            context.make("Event", ["timeStamp": Date(timeIntervalSince1970: 0)])
            try context.save()
        }
        let mapping = NSMappingModel(
            NSEntityMapping(
                from: "Event", to: "Event",
                attributes: ["day", "month"].map { NSPropertyMapping($0, .constant(Int16(1))) }
                    + [NSPropertyMapping("memo", .constant(""))], policy: WrongPolicy.self))
        let error = #expect(throws: MigrationError.self) {
            try WrongPolicy.$wrong.withValue(wrong) {
                try place.use(CalendarModel.withParts, mapping: mapping) { _, _ in }
            }
        }
        #expect(error?.code == .stageFailed && error?.entityName == "Event" && error?.object == 1, "\(error as Any)")
        let cause = String(describing: error?.cause)
        #expect(cause.contains(Self.texts[wrong] ?? "-"))
        try place.use(CalendarModel.withDates) { _, context in
            let stamps = try context.all("Event").map { $0.value(forKey: "timeStamp") as? Date }
            #expect(stamps == [Date(timeIntervalSince1970: 0)])
        }
    }

    @Test func `mappings have the members that policies read`() throws {
        var mapping = NSEntityMapping(
            from: "Event", to: "Event", attributes: [NSPropertyMapping("memo", .constant(""))],
            policy: WrongPolicy.self, userInfo: ["version": 2])
        #expect(mapping.mappingType == .customEntityMappingType)
        #expect(mapping.userInfo?["version"] as? Int == 2)
        var names: [String] = []
        if let attributes = mapping.attributeMappings {
            for attribute in attributes { if let name = attribute.name { names.append(name) } }
        }
        #expect(names == ["memo"] && mapping.relationshipMappings?.isEmpty == true)
        mapping.attributeMappings = nil
        mapping.relationshipMappings = [NSPropertyMapping("place", .source("place"))]
        mapping.userInfo = nil
        #expect(mapping.attributeMappings?.count == 0 && mapping.relationshipMappings?.first?.name == "place")
        #expect(mapping.userInfo?.isEmpty == true)
        let model = try NSMappingModel.inferredMappingModel(
            forSourceModel: CalendarModel.withDates, destinationModel: CalendarModel.withDates)
        #expect(model.entityMappings.map(\.mappingType) == [.copyEntityMappingType])
        #expect(throws: MigrationError.self) {
            try NSMappingModel.inferredMappingModel(
                forSourceModel: CalendarModel.withDates, destinationModel: CalendarModel.withParts)
        }
    }
}
