package import Foundation

/// A build of the mutated modules, with all their mutants, linked with the rest of the debug build.
///
/// It builds two programs: the tests and `MutantProof`. The other modules need no recompilation, because they depend
/// only on the interfaces of the mutated modules, which no mutant changes.
package struct MutantBuild {
    /// The environment variable with the number of the mutant for a process.
    ///
    /// Mutants are numbered in the order of the lists.
    static let switchName = "FAULTLINE_MUTANT"
    /// The programs that are linked again, by the names that the package manager gives them.
    enum Program: String, CaseIterable {
        case tests = "FaultlinePackageTests.xctest"
        case proof = "MutantProof"
    }

    package let mutants: [Mutant]
    private let repository: URL
    private let scratch: URL

    /// - Parameters:
    ///   - repository: The root of the repository, with a current debug build.
    ///   - scratch: A folder outside of the repository.
    /// - Throws: `MutantList.Fault`, or errors of reading the lists.
    package init(of repository: URL, in scratch: URL) throws {
        self.repository = repository
        self.scratch = scratch
        mutants = try Self.mutants(of: repository)
    }

    /// Returns the mutants of all lists.
    package static func mutants(of repository: URL) throws -> [Mutant] {
        let folder = repository.appending(path: "Tests/Proofs/Mutants")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".txt") }
        return try names.sorted().flatMap { name in
            try MutantList.parse(String(contentsOf: folder.appending(path: name), encoding: .utf8))
        }
    }

    /// Returns the changed text of each mutated file, by its path below `Sources`.
    ///
    /// - Throws: `MutatedText.Fault` if the lines of a mutant are not in the file exactly once.
    package static func changedFiles(
        _ mutants: [Mutant], read: (String) throws -> String
    ) throws -> [String: String] {
        var texts: [String: MutatedText] = [:]
        for (place, mutant) in mutants.enumerated() {
            var text = try texts[mutant.file] ?? MutatedText(read(mutant.file))
            try text.add(mutant, number: place + 1)
            texts[mutant.file] = text
        }
        return texts.mapValues(\.text)
    }

    func path(of program: Program) -> URL { scratch.appending(path: program.rawValue) }

    /// Compiles the modules of some mutants, and links the programs.
    ///
    /// - Parameter numbers: The positions of the mutants in the lists.
    /// - Returns: Whether the build succeeded. The compiler writes its errors to the standard error.
    /// - Throws: `MutatedText.Fault`, `DebugCommands.Fault`, or errors of files and processes.
    package func build(_ numbers: [Int]) throws -> Bool {
        let commands = try DebugCommands(of: repository)
        let changed = try Self.changedFiles(mutants) { name in
            try String(contentsOf: repository.appending(path: "Sources/\(name)"), encoding: .utf8)
        }
        let modules = Set(numbers.map { mutants[$0].module }).sorted()
        for module in modules {
            let files = try layOut(module, changed)
            guard try run(commands.compiling(module, files), in: folder(module, "Objects")) else { return false }
        }
        let objects = try modules.reduce(into: [String: [String]]()) { objects, module in
            let folder = folder(module, "Objects")
            objects[module] = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                .map { folder.appending(path: $0).path }
        }
        for program in Program.allCases {
            let list = scratch.appending(path: program.rawValue + ".objects")
            try commands.objects(of: program, replacing: objects).write(to: list, atomically: true, encoding: .utf8)
            guard try run(commands.linking(program, list, to: path(of: program)), in: scratch) else { return false }
        }
        return true
    }

    private func folder(_ module: String, _ name: String) -> URL { scratch.appending(path: "\(module)/\(name)") }

    /// Writes the changed files of a module, and a file with the switch.
    ///
    /// - Returns: The paths of all files of the module. Files without mutants are compiled from the repository.
    private func layOut(_ module: String, _ changed: [String: String]) throws -> [String] {
        let manager = FileManager.default
        let copies = folder(module, "Changed")
        for folder in [copies, folder(module, "Objects")] {
            try? manager.removeItem(at: folder)
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        let source = repository.appending(path: "Sources")
        var files: [String] = []
        for name in try manager.subpathsOfDirectory(atPath: source.appending(path: module).path).sorted()
        where name.hasSuffix(".swift") {
            let original = source.appending(path: "\(module)/\(name)")
            guard let text = changed["\(module)/\(name)"] else {
                files.append(original.path)
                continue
            }
            // File names are unique in a module.
            let copy = copies.appending(path: original.lastPathComponent)
            try text.write(to: copy, atomically: true, encoding: .utf8)
            files.append(copy.path)
        }
        let file = copies.appending(path: "MutantSwitch.swift")
        try Self.switchText.write(to: file, atomically: true, encoding: .utf8)
        return files + [file.path]
    }

    private static var switchText: String {
        """
        import Glibc

        /// The mutant that this process is, by its number; 0: none.
        let mutant: Int = getenv("\(switchName)").flatMap { Int(String(cString: $0)) } ?? 0

        """
    }

    private func run(_ arguments: [String], in folder: URL) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        // The standard output is reserved for the result.
        process.standardOutput = FileHandle.standardError
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
