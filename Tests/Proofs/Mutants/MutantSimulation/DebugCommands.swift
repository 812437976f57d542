import Foundation

/// The commands of the package manager's debug build, adapted to other source files and other output folders.
struct DebugCommands {
    /// An error for a missing command in the build.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private let folder: URL
    private let commands: [[String]]

    /// - Parameter repository: The root of the repository.
    /// - Throws: Errors of reading the file with the commands.
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

    /// Returns the command that compiles the files as a module, with object files in the current folder.
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
        // A mutant may cause warnings about unused values and unreachable code.
        return result + files + ["-suppress-warnings", "-gnone"]
    }

    /// Options with a value that refer to files of the original build.
    private static let withValue: Set = [
        "-output-file-map", "-emit-module-path", "-emit-objc-header-path", "-index-store-path",
    ]
    private static let alone: Set = [
        "-emit-module", "-emit-dependencies", "-emit-objc-header", "-serialize-diagnostics", "-incremental",
        "-parseable-output", "-warnings-as-errors",
    ]

    /// Returns the command that links a program from a list of object files.
    func linking(_ program: MutantBuild.Program, _ list: URL, to path: URL) throws(Fault) -> [String] {
        let original = folder.appending(path: program.rawValue).path
        guard let command = commands.first(where: { Self.value(of: "-o", in: $0) == original })
        else { throw Self.missing(program.rawValue) }
        return command.map { $0 == original ? path.path : $0.hasPrefix("@") ? "@\(list.path)" : $0 }
    }

    /// Returns the list of a program's object files, with those of some modules replaced.
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
