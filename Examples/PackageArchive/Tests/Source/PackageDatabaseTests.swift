import FaultlineCommands
import PackageArchive
import Testing

@Suite struct PackageDatabaseTests {
    @Test func readsStatusAvailablePackagesAndFiles() throws {
        let folder = try TemporaryFolder()
        folder.write("payload", to: "file")
        folder.write(
            "Package: a\nStatus: install ok installed\nVersion: 1\nArchitecture: all\nDepends: b\n",
            to: "status"
        )
        folder.write("Package: b\nVersion: 2\nArchitecture: all\n", to: "available")
        folder.write(folder.path + "/file\n", to: "a.list")
        var database = PackageDatabase()
        database.statusPath = folder.path + "/status"
        database.listFolder = folder.path
        database.availableCommand = ["cat", folder.path + "/available"]
        database.leastObjectCount = 0

        let set = try database.read()

        #expect(set.packages.map(\.name) == ["a", "b"])
        #expect(set.danglingCount == 0)
        #expect(set.fileByteCount == 7)
        #expect(set.origin == "installed and available packages")
    }

    @Test func goesOnWithoutTheAvailablePackages() throws {
        let folder = try TemporaryFolder()
        folder.write("Package: a\nVersion: 1\nArchitecture: all\n", to: "status")
        var database = PackageDatabase()
        database.statusPath = folder.path + "/status"
        database.availableCommand = ["faultline-has-no-such-command"]
        database.leastObjectCount = 0

        let set = try database.read()

        #expect(set.packages.count == 1)
        #expect(set.report.unreadableCount == 1)
        #expect(set.origin == "installed packages")
    }

    @Test func refusesAMissingStatus() {
        var database = PackageDatabase()
        database.statusPath = "/nowhere/status"

        let error = #expect(throws: SourceError.self) { try database.read() }

        #expect(!database.exists)
        #expect(error?.code == .cannotOpen)
        #expect(error?.path == "/nowhere/status")
    }

    @Test(.enabled(if: PackageDatabase().exists, "this machine has no dpkg"))
    func readsThisMachine() throws {
        let set = try PackageDatabase().read()

        #expect(set.objectCount >= 50_000)
        #expect(set.report.brokenStanzaCount == 0, "\(set.report.skipped)")
        #expect(set.packages.contains { $0.name == "dpkg" && $0.isInstalled })
        #expect(set.fileByteCount <= 512 << 20)
        #expect(set.places().count == set.packages.count)
        print(
            """
            This machine: \(Quantity.count(set.packages.count)) packages, \(Quantity.count(set.relations.count)) relations \
            (\(Quantity.count(set.danglingCount)) dangling), \(set.sections.count) sections, \
            \(Quantity.count(set.sources.count)) sources, \(set.fileCount) files of \(Quantity.bytes(set.fileByteCount)), \
            \(set.report.brokenFieldCount) broken fields, repeated \(set.repetitionCount) time(s)
            """
        )
    }
}
