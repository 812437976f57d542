import Glibc

/// The package database of a Debian or Ubuntu machine: the installed packages, and the available ones.
package struct PackageDatabase: Sendable {
    /// The file that lists the installed packages.
    package var statusPath = "/var/lib/dpkg/status"
    /// The folder of the lists of installed files.
    package var listFolder = "/var/lib/dpkg/info"
    /// The command that prints the stanzas of the available packages; empty for none.
    package var availableCommand = ["apt-cache", "dumpavail"]
    /// The fewest objects wanted: a smaller set is repeated under new names.
    package var leastObjectCount = 50_000
    /// How the large attributes are chosen.
    package var largestFiles = LargestFiles()

    package init() {}

    /// Whether this machine has such a database.
    package var exists: Bool { access(statusPath, R_OK) == 0 }

    /// Reads everything: stanzas of the status, then those of the available packages, then the lists of files.
    ///
    /// A missing or failing command is noted in the report; the output up to then is used.
    ///
    /// - Throws: `SourceError` when the status cannot be read.
    package func read() throws(SourceError) -> PackageSet {
        var builder = PackageSetBuilder()
        try readStatus(into: &builder)
        let availableCount = readAvailable(into: &builder)

        let origin = availableCount > 0 ? "installed and available packages" : "installed packages"
        var set = builder.finish(origin: origin)
        largestFiles.choose(for: &set, listFolder: listFolder)
        return set.repeated(toAtLeast: leastObjectCount)
    }

    private func readStatus(into builder: inout PackageSetBuilder) throws(SourceError) {
        let descriptor = open(statusPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SourceError(.cannotOpen, path: statusPath, errno: errno) }
        defer { close(descriptor) }
        let path = statusPath
        try builder.read(file: path, isStatus: true) { memory throws(SourceError) in
            try readSome(descriptor, into: memory, path: path)
        }
    }

    /// Reads the available packages, and says how many stanzas there were.
    private func readAvailable(into builder: inout PackageSetBuilder) -> Int {
        guard !availableCommand.isEmpty else { return 0 }
        let before = builder.report.stanzaCount
        let name = availableCommand.joined(separator: " ")
        do throws(SourceError) {
            let output = try ChildOutput(availableCommand)
            try builder.read(file: name, isStatus: false) { memory throws(SourceError) in
                try output.read(into: memory)
            }
            try output.finish()
        } catch {
            builder.report.skipUnreadable(name, error.message)
        }
        return builder.report.stanzaCount - before
    }
}
