#if Import
internal import FaultlineCoreData
internal import FaultlineImport
internal import Foundation
internal import Testing

/// Moves the photo of an employee into an object of its own.
private final class SplitPhotoPolicy: NSEntityMigrationPolicy {
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

/// The way of an app's store: imported from SQLite under the first version of its package, and migrated to the second
/// by the app's mapping model and policy.
@Suite struct MappingModelImportTests {
    private static let name = "<attribute name=\"name\" attributeType=\"String\" defaultValueString=\"\"/>"

    private static func version(_ inside: String) -> Data {
        Data("<model documentVersion=\"1.0\">\(inside)</model>".utf8)
    }

    private static let old = version(
        """
        <entity name="Employee">\(name)
            <attribute name="photo" optional="YES" attributeType="Binary"/>
        </entity>
        """)
    private static let new = version(
        """
        <entity name="Employee">\(name)
            <relationship name="profile" optional="YES" maxCount="1" deletionRule="Cascade" \
        destinationEntity="Photo" inverseName="employee" inverseEntity="Photo"/>
        </entity>
        <entity name="Photo">
            <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
            <relationship name="employee" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Employee" inverseName="profile" inverseEntity="Employee"/>
        </entity>
        """)
    private static let mapping = Data(
        """
        <?xml version="1.0" standalone="yes"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
        <database><databaseInfo><version>134481920</version></databaseInfo>
            <object type="XDDEVATTRIBUTEMAPPING" id="z103">
                <attribute name="name" type="string">name</attribute>
            </object>
            <object type="XDDEVRELATIONSHIPMAPPING" id="z104">
                <attribute name="autogenerateexpression" type="bool">1</attribute>
                <attribute name="name" type="string">profile</attribute>
            </object>
            <object type="XDDEVENTITYMAPPING" id="z105">
                <attribute name="migrationpolicyclassname" type="string">Company.SplitPhotoPolicy</attribute>
                <attribute name="sourcename" type="string">Employee</attribute>
                <attribute name="destinationname" type="string">Employee</attribute>
                <attribute name="mappingnumber" type="int16">1</attribute>
                <relationship name="attributemappings" idrefs="z103"></relationship>
                <relationship name="relationshipmappings" idrefs="z104"></relationship>
            </object>
            <object type="XDDEVMAPPINGMODEL" id="z102">
                <attribute name="sourcemodelpath" type="string">Company.xcdatamodeld/Company.xcdatamodel</attribute>
                <attribute name="destinationmodelpath" type="string">Company.xcdatamodeld/Company 2.xcdatamodel</attribute>
                <relationship name="entitymappings" idrefs="z105"></relationship>
            </object>
        </database>
        """.utf8)

    private static func photo(_ number: Int) -> Data? {
        number % 4 == 0
            ? nil : Data((0..<(number % 2 == 0 ? 9_000 : 50)).map { UInt8(truncatingIfNeeded: $0 + number) })
    }

    @Test func `an imported store is migrated by a mapping model and its policy`() throws {
        let source = try SourceStore([("Employee", 0)], name: "company.sqlite")
        source.run(
            "CREATE TABLE ZEMPLOYEE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZPHOTO BLOB)"
        )
        for number in 1...20 {
            let bytes = Self.photo(number).map { SourceStore.hex($0) } ?? "NULL"
            source.run("INSERT INTO ZEMPLOYEE VALUES (\(number), 1, 1, 'employee \(number)', \(bytes))")
        }
        source.close()

        let package = source.folder.appending(path: "Company.xcdatamodeld")
        for (name, contents) in [("Company", Self.old), ("Company 2", Self.new)] {
            let folder = package.appending(path: "\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try contents.write(to: folder.appending(path: "contents"))
        }
        let file = source.folder.appending(path: "Company1to2.xcmappingmodel")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        try Self.mapping.write(to: file.appending(path: "xcmapping.xml"))

        let versions = try ModelPackage(contentsOf: package).versions
        let (old, new) = (versions[0].schema, versions[1].schema)
        let report = try StoreImport(from: source.url, to: source.destination, schema: old).run()
        #expect(report.isComplete && report.objectCount == 20)
        let files = try MappingModelFile.all(in: [source.folder])
        #expect(files.count == 1 && files[0].leads(from: versions[0], to: versions[1]) && files[0].findings == [])
        var configuration = ModelConfiguration(url: source.destination)
        configuration.options.migration.mapping = try files[0].mappingModel(
            from: old, to: new, policies: ["SplitPhotoPolicy": SplitPhotoPolicy.self])
        let container = try ModelContainer(for: new, configurations: configuration)
        let employees = try ModelContext(container).fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee"))
        #expect(employees.count == 20)
        for employee in employees {
            let number = (employee.value(forKey: "name") as? String).flatMap { Int($0.dropFirst(9)) } ?? 0
            #expect(employee.value(forKeyPath: "profile.photo") as? Data == Self.photo(number), "\(number)")
        }
        try container.close()
    }
}
#endif
