import FaultlineCoreData
import Foundation

/// A model with two configurations: books and their authors, and visits.
enum LibraryModel {
    static var code: NSManagedObjectModel {
        let title = Schema.Attribute(name: "title", valueType: String.self)
        let author = NSEntityDescription(
            "Author", properties: Schema.Attribute(name: "name", valueType: String?.self),
            Schema.Relationship(name: "books", destination: "Book", isToOne: false, inverseName: "author"))
        let book = NSEntityDescription(
            "Book", properties: title,
            Schema.Relationship(name: "author", destination: "Author", isToOne: true, inverseName: "books"))
        let visit = NSEntityDescription("Visit", properties: Schema.Attribute(name: "code", valueType: Int?.self))
        visit.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel(book, author, visit)
        model.setEntities([book, author], forConfigurationName: "Catalog")
        model.setEntities([visit], forConfigurationName: "Session")
        return model
    }

    /// The same model as Xcode writes it.
    static let contents = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
            <entity name="Book" representedClassName="Book" syncable="YES">
                <attribute name="title" optional="YES" attributeType="String"/>
                <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
            </entity>
            <entity name="Author" representedClassName="Author" syncable="YES">
                <attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
            </entity>
            <entity name="Visit" representedClassName="Visit" syncable="YES">
                <attribute name="code" optional="YES" attributeType="Integer 64"/>
            </entity>
            <configuration name="Catalog">
                <memberEntity name="Book"/>
                <memberEntity name="Author"/>
            </configuration>
            <configuration name="Session">
                <memberEntity name="Visit"/>
            </configuration>
        </model>
        """

    /// Writes it into a folder, and returns the URL of the package.
    static func write(into folder: String) throws -> URL {
        let package = URL(filePath: folder).appending(path: "Library.xcdatamodeld", directoryHint: .isDirectory)
        let version = package.appending(path: "Library.xcdatamodel", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try Data(contents.utf8).write(to: version.appending(path: "contents"))
        return package
    }
}
