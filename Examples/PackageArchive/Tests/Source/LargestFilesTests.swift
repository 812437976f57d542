import Glibc
import PackageArchive
import Testing

@Suite struct LargestFilesTests {
    /// A folder with files of given sizes, and a set with one installed package for each list.
    static func choose(
        _ files: [String: Int],
        lists: [(package: String, paths: [String])],
        _ rule: LargestFiles = LargestFiles(),
        change: (TemporaryFolder) -> Void = { _ in }
    ) throws -> PackageSet {
        let folder = try TemporaryFolder()
        for (name, byteCount) in files { folder.write([UInt8](repeating: 1, count: byteCount), to: name) }
        change(folder)
        var text = ""
        for list in lists {
            folder.write(list.paths.map { folder.path + "/" + $0 + "\n" }.joined(), to: list.package + ".list")
            let name = list.package.prefix { $0 != ":" }
            text += "Package: \(name)\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\n\n"
        }
        var set = try StanzaTexts(status: text).read()
        rule.choose(for: &set, listFolder: folder.path)
        return set
    }

    @Test func takesTheLargestRegularFile() throws {
        let set = try Self.choose(
            ["small": 10, "large": 1000, "twin": 1000, "behind": 2000],
            lists: [("a", [".", "small", "large", "twin", "link", "missing"])],
            change: { $0.link("link", to: "behind") }
        )

        #expect(set.packages.first?.file?.path.hasSuffix("/large") == true)
        #expect(set.packages.first?.file?.byteCount == 1000)
        #expect(set.fileCount == 1)
        #expect(set.fileByteCount == 1000)
    }

    @Test func passesOverFilesThatAreTooLarge() throws {
        var rule = LargestFiles()
        rule.fileByteCountMax = 999
        let set = try Self.choose(["small": 999, "large": 1000], lists: [("a", ["large", "small"])], rule)

        #expect(set.packages.first?.file?.byteCount == 999)
    }

    @Test func stopsAtTheSum() throws {
        var rule = LargestFiles()
        rule.totalByteCountMax = 1500
        let set = try Self.choose(
            ["one": 1000, "two": 501, "three": 500],
            lists: [("a", ["one"]), ("b", ["two"]), ("c", ["three"])],
            rule
        )

        #expect(set.packages.map { $0.file?.byteCount } == [1000, nil, 500])
    }

    @Test func readsTheListOfThePackagesArchitecture() throws {
        let set = try Self.choose(["one": 1], lists: [("a:amd64", ["one"])])

        #expect(set.fileCount == 1)
    }

    @Test func countsListsThatAreMissing() throws {
        var set = try StanzaTexts(status: "Package: a\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n")
            .read()

        LargestFiles().choose(for: &set, listFolder: "/nowhere")

        #expect(set.fileCount == 0)
        #expect(set.report.unreadableCount == 1)
        #expect(set.report.skipped.first?.file == "/nowhere/a.list")
    }

    @Test func leavesPackagesThatAreNotInstalled() throws {
        var set = try StanzaTexts(available: "Package: a\nVersion: 1\nArchitecture: all\n").read()

        LargestFiles().choose(for: &set, listFolder: "/nowhere")

        #expect(set.report.unreadableCount == 0)
    }
}
