import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// The folder `Written` has the classes of this model as they were written, and compiles them.
struct WrittenModelTests {
    static let model = """
            <entity name="Album" representedClassName="Album" elementID="Folder" syncable="YES">
                <attribute name="title" attributeType="String" elementID="name" versionHashModifier="2"/>
                <attribute name="created" attributeType="Date" defaultDateTimeInterval="697386720"/>
                <attribute name="default" attributeType="Boolean" defaultValueString="NO"/>
                <attribute name="id" attributeType="UUID"/>
                <attribute name="price" attributeType="Decimal" defaultValueString="9.99"/>
                <attribute name="ratio" attributeType="Double" defaultValueString="1.5"/>
                <attribute name="scale" attributeType="Float" defaultValueString="0.25"/>
                <attribute name="count" attributeType="Integer 64" defaultValueString="-9223372036854775808"/>
                <attribute name="home" optional="YES" attributeType="URI"/>
                <attribute name="draft" optional="YES" attributeType="String" transient="YES"/>
                <relationship name="photos" optional="YES" toMany="YES" ordered="YES" maxCount="500" deletionRule="Cascade" destinationEntity="Photo" inverseName="album" inverseEntity="Photo"/>
                <relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Album" inverseName="children" inverseEntity="Album"/>
                <relationship name="children" optional="YES" toMany="YES" deletionRule="Deny" destinationEntity="Album" inverseName="parent" inverseEntity="Album"/>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="id"/></uniquenessConstraint>
                    <uniquenessConstraint><constraint value="title"/><constraint value="parent"/></uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <entity name="Photo" representedClassName="Photo" syncable="YES">
                <attribute name="pixels" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="taken" optional="YES" attributeType="Date" indexed="YES" preserveAfterDeletion="YES"/>
                <attribute name="stars" attributeType="Integer 16" defaultValueString="0"/>
                <attribute name="width" attributeType="Integer 32" defaultValueString="0"/>
                <relationship name="album" maxCount="1" deletionRule="Nullify" destinationEntity="Album" inverseName="photos" inverseEntity="Album"/>
                <relationship name="tags" toMany="YES" minCount="1" deletionRule="Nullify" destinationEntity="Tag" inverseName="photos" inverseEntity="Tag"/>
                <relationship name="cover" optional="YES" maxCount="1" deletionRule="No Action" destinationEntity="Photo"/>
                <fetchIndex name="byStars">
                    <fetchIndexElement property="stars" type="Binary" order="descending"/>
                    <fetchIndexElement property="taken" type="Binary" order="ascending"/>
                </fetchIndex>
            </entity>
            <entity name="Tag" representedClassName="Tag" syncable="YES">
                <attribute name="label" attributeType="String" defaultValueString="a &quot;b&quot;"/>
                <relationship name="photos" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Photo" inverseName="tags" inverseEntity="Photo"/>
            </entity>
        """

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Written")

    @Test func `the classes are written as they are compiled`() throws {
        let source = try ModelVersion(xml: ModelText.model(Self.model), name: "Album").swiftSource()
        #expect(source.findings == [])
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        #expect(source.files.map(\.name) == names)
        for file in source.files {
            let text = try String(contentsOf: Self.folder.appending(path: file.name), encoding: .utf8)
            #expect(file.text == text, "\(file.name)")
        }
    }

    @Test func `the classes have the fingerprint of the model's schema`() throws {
        let version = try ModelVersion(xml: ModelText.model(Self.model), name: "Album")
        let classes = Schema([Album.self, Photo.self, Tag.self])
        #expect(version.schema.difference(from: classes).description == "")
        #expect(version.schema.fingerprint == classes.fingerprint)
    }

    @Test func `a store of the model opens under the classes`() throws {
        let folder = TemporaryDirectory()
        let place = ModelConfiguration(url: URL(filePath: folder.path).appending(path: "store"))
        let version = try ModelVersion(xml: ModelText.model(Self.model), name: "Album")
        let container = try ModelContainer(for: version.schema, configurations: place)
        let context = ModelContext(container)
        let album = try context.insertNewObject(forEntityName: "Album")
        album.setValue("Alps", forKey: "title")
        album.setValue(UUID(), forKey: "id")
        try context.save()
        try container.close()
        let again = try ModelContainer(for: Album.self, Photo.self, Tag.self, configurations: place)
        let albums = try ModelContext(again).fetch(FetchDescriptor<Album>())
        #expect(albums.map(\.title) == ["Alps"] && albums.map(\.price) == [Decimal(string: "9.99")])
        #expect(again.migrationReport.versions.isEmpty)
        try again.close()
    }
}
