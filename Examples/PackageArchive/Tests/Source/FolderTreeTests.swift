import PackageArchive
import Testing

@Suite struct FolderTreeTests {
    /// A tree of three folders, two files, and links to the inside and the outside.
    static func read(change: (inout FolderTree) -> Void = { _ in }) throws -> PackageSet {
        let folder = try TemporaryFolder()
        folder.makeFolder("b")
        folder.makeFolder("b/inner")
        folder.makeFolder("a")
        folder.write("hello", to: "b/inner/file")
        folder.write("", to: "a/empty")
        folder.link("a/inwards", to: "../b/inner/file")
        folder.link("a/outwards", to: "/nowhere")
        var tree = FolderTree(root: folder.path)
        tree.leastObjectCount = 0
        change(&tree)
        return try tree.read()
    }

    @Test func tellsFoldersFilesAndLinks() throws {
        let set = try Self.read()

        #expect(
            set.packages.map { "\($0.architecture) \($0.name)" } == [
                "directory .", "directory a", "directory b", "file a/empty", "link a/inwards", "link a/outwards",
                "directory b/inner", "file b/inner/file",
            ]
        )
        let file = try #require(set.packages.last)
        #expect(file.section == "b")
        #expect(file.synopsis == "file")
        #expect(file.sourceName == "b/inner")
        #expect(file.priority == "0644")
        #expect(file.downloadByteCount == 5)
        #expect(file.file?.byteCount == 5)
        #expect(file.maintainer.hasSuffix("@localhost>"))
        #expect(set.fileCount == 1)
        #expect(set.places().count == set.packages.count)
    }

    @Test func relatesThemByFolderAndLink() throws {
        let set = try Self.read()

        #expect(set.relationTexts(of: ".") == [])
        #expect(set.relationTexts(of: "b/inner/file") == ["Depends 0.0 b/inner"])
        #expect(set.relationTexts(of: "a/inwards") == ["Depends 0.0 a", "Suggests 0.0 b/inner/file"])
        #expect(set.relationTexts(of: "a/outwards") == ["Depends 0.0 a", "Suggests 0.0 /nowhere"])
        #expect(set.danglingCount == 1)
        for relation in set.relations where !relation.isDangling {
            #expect(set.packages[Int(relation.target)].name == relation.targetName)
        }
    }

    @Test func stopsAtTheMostNodes() throws {
        let set = try Self.read { $0.nodeCountMax = 4 }

        #expect(set.packages.count == 4)
    }

    @Test func repeatsASmallTree() throws {
        let set = try Self.read { $0.leastObjectCount = 100 }

        #expect(set.objectCount >= 100)
        #expect(set.repetitionCount > 1)
    }

    @Test func refusesAMissingRoot() {
        let error = #expect(throws: SourceError.self) { try FolderTree(root: "/nowhere").read() }

        #expect(error?.code == .cannotOpen)
    }
}
