import Faultline
import FaultlineTestSupport
import FaultlineTool
import Foundation
import Testing

/// `faultline model` with mapping models, and `faultline migrate` by one.
struct MappingModelCommandTests {
    private let folder = TemporaryDirectory()
    private var package: String { folder.path + "/Library.xcdatamodeld" }
    private var mapping: String { folder.path + "/Library1to2.xcmappingmodel" }

    private static let pages = "<attribute name=\"pages\" attributeType=\"Integer 16\" defaultValueString=\"0\"/>"

    private static func attribute(_ name: String, _ value: String) -> String {
        "<attribute name=\"\(name)\" type=\"string\">\(value)</attribute>"
    }

    /// Writes a mapping model: each entity becomes that of the same name, with the listed attributes and relationships.
    private func write(
        _ mappings: [(entity: String, attributes: [String], relationships: [String])], inside: String = ""
    ) throws {
        var objects = ""
        var number = 102
        var identifiers: [String] = []
        for (place, mapping) in mappings.enumerated() {
            var members: [[String]] = [[], []]
            for (kind, names) in [mapping.attributes, mapping.relationships].enumerated() {
                for name in names {
                    number += 1
                    members[kind].append("z\(number)")
                    objects += "<object type=\"\(kind == 0 ? "XDDEVATTRIBUTEMAPPING" : "XDDEVRELATIONSHIPMAPPING")\" "
                    objects += "id=\"z\(number)\">\(Self.attribute("name", name))</object>\n"
                }
            }
            number += 1
            identifiers.append("z\(number)")
            objects += "<object type=\"XDDEVENTITYMAPPING\" id=\"z\(number)\">"
            objects += Self.attribute("sourcename", mapping.entity) + Self.attribute("destinationname", mapping.entity)
            objects += Self.attribute("mappingnumber", "\(place)") + (place == 0 ? inside : "")
            objects += "<relationship name=\"attributemappings\" idrefs=\"\(members[0].joined(separator: " "))\"/>"
            objects += "<relationship name=\"relationshipmappings\" idrefs=\"\(members[1].joined(separator: " "))\"/>"
            objects += "</object>\n"
        }
        let text = """
            <?xml version="1.0"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
            <database><databaseInfo><version>134481920</version></databaseInfo>
            \(objects)<object type="XDDEVMAPPINGMODEL" id="z102">
            \(Self.attribute("sourcemodelpath", "Library.xcdatamodeld/Library.xcdatamodel"))
            \(Self.attribute("destinationmodelpath", "Library.xcdatamodeld/Library 2.xcdatamodel"))
            <relationship name="entitymappings" idrefs="\(identifiers.joined(separator: " "))"/>
            </object></database>
            """
        try FileManager.default.createDirectory(atPath: mapping, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: mapping + "/xcmapping.xml"))
    }

    private static let library: [(entity: String, attributes: [String], relationships: [String])] = [
        ("Author", ["name"], ["books"]), ("Book", ["title", "pages"], ["author"]),
    ]

    @Test func `shows a mapping model by itself, and as JSON`() async throws {
        try write(Self.library, inside: Self.attribute("sourcefilterpredicatestring", "name != 'x'"))
        let people = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [mapping = mapping as String] in runFaultlineTool(["model", mapping]) }
        let lines = text(people.standardOutputContent)
        #expect(lines.contains("AuthorToAuthor  Author  Author          name != \"x\""))
        #expect(lines.contains("BookToBook\n    title: as the old property\n"))
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [mapping = mapping as String] in runFaultlineTool(["model", mapping, "--json"]) }
        let line = try lastLine(result.standardOutputContent)
        let mappings = try #require(line["mappings"] as? [[String: Any]])
        #expect(mappings.map { $0["mapping"] as? String } == ["AuthorToAuthor", "BookToBook"])
        #expect(mappings[0]["condition"] as? String == "name != \"x\"")
        #expect((line["findings"] as? [Any])?.count == 0)
    }

    @Test func `checks a mapping model against the versions that it names`() async throws {
        try LibraryModel.write(["Library": "", "Library 2": Self.pages], current: "Library 2", to: package)
        try write(Self.library)
        let right = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [package = package as String, mapping = mapping as String] in
            runFaultlineTool(["model", package, "--mapping", mapping])
        }
        #expect(text(right.standardOutputContent).contains("Library1to2: Library to Library 2"))
        try write([("Author", ["nam"], []), Self.library[1]], inside: Self.attribute("sparkle", "1"))
        let wrong = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [package = package as String, mapping = mapping as String] in
            runFaultlineTool(["model", package, "--mapping", mapping, "--json"])
        }
        let line = try lastLine(wrong.standardOutputContent)
        #expect((line["mapping"] as? [String: Any])?["to"] as? String == "Library 2")
        let findings = try #require(line["findings"] as? [[String: Any]])
        #expect(findings.map { $0["name"] as? String } == ["sparkle", "nam"])
        let none = try await #require(
            processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
        ) { [package = package as String, mapping = mapping as String] in
            runFaultlineTool(["model", package, "--mapping", mapping, "--from", "Library 2"])
        }
        #expect(text(none.standardErrorContent).contains("leads between no versions"))
        try Data("<database>".utf8).write(to: URL(filePath: mapping + "/xcmapping.xml"))
        let damaged = try await #require(
            processExitsWith: .exitCode(3), observing: [\.standardErrorContent]
        ) { [mapping = mapping as String] in runFaultlineTool(["model", mapping]) }
        #expect(text(damaged.standardErrorContent).contains("xcmapping.xml:1:"))
    }

    @Test func `migrates a store by a mapping model that names no code`() async throws {
        let shelves = try ShelfStore()
        let goal = shelves.folder.path + "/goal"
        try ModelContainer(
            for: LitShelves.Shelf.self, LitShelves.Volume.self,
            configurations: ModelConfiguration(url: URL(filePath: goal))
        ).close()
        let container = try ModelContainer(opening: ModelConfiguration(url: URL(filePath: goal)))
        let entities = container.schema.entities
        try container.close()
        try write(
            entities.map { entity in
                (
                    entity.name, entity.attributes.map(\.name).sorted(), entity.relationships.map(\.name).sorted()
                )
            })
        await #expect(processExitsWith: .success) {
            [store = shelves.path as String, goal = goal as String, mapping = mapping as String] in
            runFaultlineTool(["migrate", store, "--to", goal, "--mapping", mapping])
        }
        try write([("Volume", ["nope"], [])])
        let again = try ShelfStore()
        let refused = try await #require(
            processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
        ) { [store = again.path as String, goal = goal as String, mapping = mapping as String] in
            runFaultlineTool(["migrate", store, "--to", goal, "--mapping", mapping])
        }
        #expect(text(refused.standardErrorContent).contains("VolumeToVolume.nope"))
    }
}
