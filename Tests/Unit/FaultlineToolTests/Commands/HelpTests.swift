import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

/// The help of the commands, and the examples in it.
struct HelpTests {
    private static let commands = faultlineToolHelp()
    private static let names = commands.map(\.name)

    /// The words of the example in a command's help.
    private static func example(of name: String) throws -> [String] {
        let help = try #require(commands.first { $0.name == name }).help
        let overview = try #require(help.components(separatedBy: "USAGE:").first)
        let lines = overview.split(separator: "\n").map(String.init)
        let place = try #require(lines.lastIndex(of: "Example:"), "The help of \(name) has no example.")
        // The example is the last line of the overview.
        try #require(place == lines.count - 2)
        return lines[place + 1].split(separator: " ").map(String.init)
    }

    @Test(arguments: names) func everyCommandHasAnExample(name: String) throws {
        let words = try Self.example(of: name)
        #expect(words.prefix(2) == ["faultline", name])
        let help = try #require(Self.commands.first { $0.name == name }).help
        for option in words where option.hasPrefix("--") { #expect(help.contains("  \(option) "), "\(option)") }
    }

    /// All but that of the demo, which takes minutes, and those that need a trait: `ImportCommandTests` and
    /// `BrowserTests` run these.
    @Test(arguments: names.filter { !["demo", "import", "browse"].contains($0) })
    func theExampleWorks(name: String) async throws {
        let shelves = try ShelfStore()
        let folder = shelves.folder.path
        try FileManager.default.moveItem(atPath: shelves.path, toPath: folder + "/photos.store")
        try ModelContainer(
            for: LitShelves.Shelf.self, LitShelves.Volume.self,
            configurations: ModelConfiguration(url: URL(filePath: folder + "/new.store"))
        ).close()
        try LibraryModel.write(["Library": ""], current: "Library", to: folder + "/Library.xcdatamodeld")
        if name == "rollback" {
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                runFaultlineTool(
                    ["migrate", folder + "/photos.store", "--to", folder + "/new.store", "--grace", "1"])
            }
        }
        if name == "restore" {
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                runFaultlineTool(["backup", folder + "/photos.store", folder + "/photos.backups"])
            }
        }
        let arguments = try Self.example(of: name).dropFirst().map { word in
            word == "Photo" ? "Volume" : word.replacing("/var/lib", with: folder)
        }
        await #expect(processExitsWith: .success) { [line = arguments.joined(separator: " ") as String] in
            runFaultlineTool(line.split(separator: " ").map(String.init))
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func completionsNameTheCommands(shell: String) async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [shell = shell as String] in runFaultlineTool(["--generate-completion-script", shell])
        }
        let script = text(result.standardOutputContent)
        for name in Self.names { #expect(script.contains(name), "\(name)") }
    }
}
