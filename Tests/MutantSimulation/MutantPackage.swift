package import Foundation

/// A copy of the engine with all mutants in it, beside links to the tests: a package of its own, built once for all.
package struct MutantPackage {
    /// Names the mutant that a process is to be, by its number; the lists' order counts.
    static let switchName = "FAULTLINE_MUTANT"

    package let mutants: [Mutant]
    private let repository: URL
    let scratch: URL

    /// - Parameters:
    ///   - repository: Its root.
    ///   - scratch: A folder outside of it, which stays, so that the next build has less to do.
    /// - Throws: What reading the lists can cause; `MutantList.Fault`.
    package init(of repository: URL, in scratch: URL) throws {
        self.repository = repository
        self.scratch = scratch
        mutants = try Self.mutants(of: repository)
    }

    /// The mutants of all lists.
    package static func mutants(of repository: URL) throws -> [Mutant] {
        let folder = repository.appending(path: "Tests/Mutants")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".txt") }
        return try names.sorted().flatMap { name in
            try MutantList.parse(String(contentsOf: folder.appending(path: name), encoding: .utf8))
        }
    }

    /// The files that mutants change, below `Sources/FaultlineLog`, as they become.
    ///
    /// - Throws: `MutatedText.Fault` if the lines of a mutant are not there exactly once.
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

    /// Lays the package out; a file that is as it should be stays as it is.
    package func layOut() throws {
        let manager = FileManager.default
        let target = scratch.appending(path: "Sources/FaultlineLog")
        let source = repository.appending(path: "Sources/FaultlineLog")
        try manager.createDirectory(at: target, withIntermediateDirectories: true)
        for name in ["Sources/CLZ4", "Sources/CFaultline", "Sources/FaultlineDisk", "Tests"] {
            try link(name)
        }
        try put(repository.appending(path: "Tests/Mutants/Package.swift"), "Package.swift")
        var files = try Self.changedFiles(mutants) { name in
            try String(contentsOf: source.appending(path: name), encoding: .utf8)
        }
        for case let name as String in manager.enumerator(atPath: source.path) ?? .init()
        where name.hasSuffix(".swift") && files[name] == nil {
            files[name] = try String(contentsOf: source.appending(path: name), encoding: .utf8)
        }
        files["MutantSwitch.swift"] = Self.switchText
        for case let name as String in manager.enumerator(atPath: target.path) ?? .init()
        where name.hasSuffix(".swift") && files[name] == nil {
            try manager.removeItem(at: target.appending(path: name))
        }
        for (name, text) in files { try write(text, target.appending(path: name)) }
    }

    private static var switchText: String {
        """
        import Glibc

        /// The mutant that this process is, by its number; 0: none.
        let mutant: Int = getenv("\(switchName)").flatMap { Int(String(cString: $0)) } ?? 0

        """
    }

    private func put(_ source: URL, _ name: String) throws {
        try write(String(contentsOf: source, encoding: .utf8), scratch.appending(path: name))
    }

    private func write(_ text: String, _ file: URL) throws {
        if (try? String(contentsOf: file, encoding: .utf8)) == text { return }
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    private func link(_ name: String) throws {
        let place = scratch.appending(path: name).path
        let target = repository.appending(path: name).path
        if (try? FileManager.default.destinationOfSymbolicLink(atPath: place)) == target { return }
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: target)
    }

    /// Builds it.
    ///
    /// - Returns: Whether that succeeded; the compiler says on the standard error what did not.
    package func build() throws -> Bool {
        let build = Process()
        build.executableURL = URL(filePath: "/usr/bin/env")
        // What a mutant leaves unused, or never reaches, is no news.
        build.arguments = [
            "swift", "build", "--package-path", scratch.path, "--build-tests", "--quiet", "-Xswiftc",
            "-suppress-warnings",
        ]
        // The last line of the standard output is the result.
        build.standardOutput = FileHandle.standardError
        try build.run()
        build.waitUntilExit()
        return build.terminationStatus == 0
    }
}
