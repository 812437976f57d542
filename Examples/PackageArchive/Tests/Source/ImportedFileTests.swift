import PackageArchive
import Testing

@Suite struct ImportedFileTests {
    @Test(arguments: [1, 3, 10, 11, 4096])
    func handsOutEveryByteInOrder(pieceByteCount: Int) throws {
        let folder = try TemporaryFolder()
        let bytes = (0..<10).map { UInt8($0) }
        folder.write(bytes, to: "file")
        var seen: [UInt8] = []

        try ImportedFile(path: folder.path + "/file", byteCount: 10).forEachPiece(ofAtMost: pieceByteCount) {
            piece,
            offset in
            #expect(offset == seen.count)
            #expect(piece.count <= pieceByteCount)
            seen += piece
        }

        #expect(seen == bytes)
    }

    @Test(arguments: [0, 9, 11, 20])
    func noticesAnotherSize(byteCount: Int) throws {
        let folder = try TemporaryFolder()
        folder.write([UInt8](repeating: 7, count: 10), to: "file")
        let file = ImportedFile(path: folder.path + "/file", byteCount: byteCount)

        let error = #expect(throws: SourceError.self) { try file.forEachPiece(ofAtMost: 4) { _, _ in } }

        #expect(error?.code == .changedWhileReading)
        #expect(error?.path == file.path)
    }

    @Test func namesTheFileThatIsMissing() {
        let error = #expect(throws: SourceError.self) {
            try ImportedFile(path: "/nowhere/file", byteCount: 1).forEachPiece { _, _ in }
        }

        #expect(error?.code == .cannotOpen)
        #expect(error?.path == "/nowhere/file")
    }
}
