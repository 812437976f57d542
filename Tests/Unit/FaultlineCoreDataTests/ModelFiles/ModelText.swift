import FaultlineCoreData
import FaultlineTestSupport

/// Writes models in the XML of Xcode.
enum ModelText {
    /// The file `contents` of a model with elements inside.
    static func model(_ inside: String, identifier: String = "", attributes: String = "") -> Data {
        Data(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22758" \
            systemVersion="23E224" minimumToolsVersion="Automatic" sourceLanguage="Swift" \
            userDefinedModelVersionIdentifier="\(identifier)"\(attributes)>
            \(inside)
                <elements>
                    <element name="Book" positionX="-63" positionY="-18" width="128" height="75"/>
                </elements>
            </model>
            """.utf8)
    }

    static func entity(_ name: String, _ attributes: String = "", _ inside: String = "") -> String {
        "    <entity name=\"\(name)\" representedClassName=\"\(name)\" syncable=\"YES\" \(attributes)>\n\(inside)\n    </entity>"
    }

    static func attribute(_ name: String, _ type: String, _ attributes: String = "optional=\"YES\"") -> String {
        "        <attribute name=\"\(name)\" attributeType=\"\(type)\" \(attributes)/>\n"
    }

    static func relationship(
        _ name: String, to destination: String, inverse: String? = nil, _ attributes: String = "optional=\"YES\""
    ) -> String {
        let inverse = inverse.map { " inverseName=\"\($0)\" inverseEntity=\"\(destination)\"" } ?? ""
        return "        <relationship name=\"\(name)\" destinationEntity=\"\(destination)\"\(inverse) \(attributes)/>\n"
    }

    /// Two entities with a relationship between them, and an attribute that a version can add.
    static func library(_ extra: String = "", identifier: String = "") -> Data {
        model(
            entity(
                "Author", "",
                attribute("name", "String", "defaultValueString=\"\"")
                    + relationship(
                        "books", to: "Book", inverse: "author",
                        "optional=\"YES\" toMany=\"YES\" deletionRule=\"Cascade\""))
                + "\n"
                + entity(
                    "Book", "",
                    attribute("title", "String", "defaultValueString=\"\"") + extra
                        + relationship(
                            "author", to: "Author", inverse: "books",
                            "optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\"")),
            identifier: identifier)
    }

    /// Writes a package with versions, and names the current one.
    static func write(_ versions: [String: Data], current: String?, to package: URL) throws {
        for (name, contents) in versions {
            let folder = package.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try contents.write(to: folder.appendingPathComponent("contents"))
        }
        guard let current else { return }
        try Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
                <key>_XCCurrentVersionName</key>
                <string>\(current).xcdatamodel</string>
            </dict>
            </plist>
            """.utf8
        ).write(to: package.appendingPathComponent(".xccurrentversion"))
    }
}
