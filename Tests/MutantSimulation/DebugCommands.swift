import Foundation

/// The commands by which the package manager made the debug build, for other files and other places.
struct DebugCommands {
    /// The build lacks something.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private let folder: URL
    private let commands: [[String]]

    /// - Parameter repository: Its root.
    /// - Throws: An error of reading the file of commands.
    init(of repository: URL) throws {
        folder = repository.appending(path: ".build/debug").resolvingSymlinksInPath()
        let text = try String(contentsOf: repository.appending(path: ".build/debug.yaml"), encoding: .utf8)
        let start = "args: ["
        commands = text.split(separator: "\n").compactMap { line in
            let line = line.drop { $0 == " " }
            guard line.hasPrefix(start) else { return nil }
            return try? JSONDecoder().decode([String].self, from: Data(line.dropFirst(start.count - 1).utf8))
        }
    }

    /// The command that compiles these files as a module, to object files in the current folder.
    func compiling(_ module: String, _ files: [String]) throws(Fault) -> [String] {
        guard
            let command = commands.first(where: {
                Self.value(of: "-module-name", in: $0) == module && $0.contains("-c")
            })
        else { throw Self.missing(module) }
        var result: [String] = []
        var arguments = command.makeIterator()
        while let argument = arguments.next() {
            if Self.withValue.contains(argument) {
                _ = arguments.next()
            } else if argument == "-Xcc" || argument == "-Xfrontend" {
                result += [argument] + (arguments.next().map { [$0] } ?? [])
            } else if !Self.alone.contains(argument), !argument.hasPrefix("@") {
                result.append(argument)
            }
        }
        // A mutant may leave values unused and lines unreached.
        return result + files + ["-suppress-warnings", "-gnone"]
    }

    /// Options that concern files of the build itself.
    private static let withValue: Set = [
        "-output-file-map", "-emit-module-path", "-emit-objc-header-path", "-index-store-path",
    ]
    private static let alone: Set = [
        "-emit-module", "-emit-dependencies", "-emit-objc-header", "-serialize-diagnostics", "-incremental",
        "-parseable-output", "-warnings-as-errors",
    ]

    /// The command that links a program from a list of object files.
    func linking(_ program: MutantBuild.Program, _ list: URL, to path: URL) throws(Fault) -> [String] {
        let original = folder.appending(path: program.rawValue).path
        guard let command = commands.first(where: { Self.value(of: "-o", in: $0) == original })
        else { throw Self.missing(program.rawValue) }
        return command.map { $0 == original ? path.path : $0.hasPrefix("@") ? "@\(list.path)" : $0 }
    }

    /// The list of object files that a program is linked from, with others for some modules.
    func objects(of program: MutantBuild.Program, replacing modules: [String: [String]]) throws -> String {
        let name = program.rawValue.split(separator: ".")[0]
        let list = folder.appending(path: "\(name).product/Objects.LinkFileList")
        let others = try String(contentsOf: list, encoding: .utf8).split(separator: "\n").filter { line in
            !modules.keys.contains { line.contains("/\($0).build/") }
        }
        return (others.map(String.init) + modules.values.joined()).joined(separator: "\n") + "\n"
    }

    private static func value(of option: String, in command: [String]) -> String? {
        command.firstIndex(of: option).flatMap { command.indices.contains($0 + 1) ? command[$0 + 1] : nil }
    }

    private static func missing(_ name: String) -> Fault {
        Fault(description: "\(name) is not in the debug build: run `swift build --build-tests` first")
    }
}
