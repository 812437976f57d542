import FaultlineTestSupport
import Foundation

/// A model package with versions of a library, in the XML of Xcode.
enum LibraryModel {
    /// Writes versions by name, each with further attributes of books.
    static func write(_ versions: [String: String], current: String, to path: String) throws {
        let package = URL(filePath: path)
        for (name, attributes) in versions {
            let folder = package.appending(path: "\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let text = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                    <entity name="Author" representedClassName="Author" syncable="YES">
                        <attribute name="name" attributeType="String" defaultValueString=""/>
                        <relationship name="books" optional="YES" toMany="YES" deletionRule="Cascade" \
                destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
                    </entity>
                    <entity name="Book" representedClassName="Book" syncable="YES">
                        <attribute name="title" attributeType="String" defaultValueString=""/>
                        \(attributes)
                        <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" \
                destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
                    </entity>
                </model>
                """
            try Data(text.utf8).write(to: folder.appending(path: "contents"))
        }
        let mark = """
            <plist version="1.0"><dict>
                <key>_XCCurrentVersionName</key><string>\(current).xcdatamodel</string>
            </dict></plist>
            """
        try Data(mark.utf8).write(to: package.appending(path: ".xccurrentversion"))
    }
}
