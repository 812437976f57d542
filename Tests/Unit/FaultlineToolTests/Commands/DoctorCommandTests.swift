import Faultline
import FaultlineCommands
import FaultlineLog
import FaultlineTestSupport
import FaultlineTool
import Testing

private enum Notes1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Note {
        var text: String
        init(text: String) { self.text = text }
    }
}

private enum Notes2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Note {
        var text: String
        var words: Int
        init(text: String, words: Int) {
            self.text = text
            self.words = words
        }
    }
}

/// Stops at a note without a word.
private enum NotePlan: SchemaMigrationPlan {
    struct Wordless: Error {}

    static var schemas: [any VersionedSchema.Type] { [Notes1.self, Notes2.self] }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Notes1.self, toVersion: Notes2.self,
                StreamedEntity(Notes1.Note.self) { old, output in
                    let words = old.text.split(separator: " ").count
                    guard words > 0 else { throw Wordless() }
                    try output.insert(Notes2.Note(text: old.text, words: words))
                })
        ]
    }
}

struct DoctorCommandTests {
    private let shelves: ShelfStore

    init() throws { shelves = try ShelfStore() }

    /// The names and bytes of a store's files.
    private func files(_ path: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: path + "/" + $0))) })
    }

    /// The line of JSON about a store with findings, and its only finding.
    private func finding(_ path: String, status: Int32 = 1) async throws -> (line: [String: Any], one: [String: Any]) {
        let before = try files(path)
        let result = try await #require(
            processExitsWith: .exitCode(status), observing: [\.standardOutputContent]
        ) { [path = path as String] in runFaultlineTool(["doctor", path, "--json"]) }
        #expect(try files(path) == before)
        let lines = try jsonLines(result.standardOutputContent)
        try #require(lines.count == 1)
        let findings = try #require(lines[0]["findings"] as? [[String: Any]])
        try #require(findings.count == 1, "\(findings)")
        return (lines[0], findings[0])
    }

    @Test func aHealthyStoreIsWellInTenLines() async throws {
        let before = try files(shelves.path)
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [store = shelves.path as String] in runFaultlineTool(["doctor", store]) }
        #expect(try files(shelves.path) == before)
        let lines = text(result.standardOutputContent).split(separator: "\n")
        #expect(lines.count == 8)
        #expect(lines.first == "\(shelves.path): well")
        #expect(lines.contains("schema      version 1.0.0, 2 entities, 40 objects, transaction 2"))
        #expect(lines.contains("writer      none, so nothing is pinned"))
        #expect(lines.contains("closed      cleanly"))
        #expect(lines.contains("migration   none under way"))
        #expect(lines.contains("quarantine  empty"))
        #expect(text(result.standardErrorContent).isEmpty)

        let json = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = shelves.path as String] in runFaultlineTool(["doctor", store, "--json"])
        }
        let line = try lastLine(json.standardOutputContent)
        #expect(line["doctor"] as? String == "well")
        #expect(line["objects"] as? Int == 40 && line["entities"] as? Int == 2)
        #expect(line["records_read"] as? Int == line["records"] as? Int)
        #expect(line["live_share"] as? Double ?? 0 > 0.9)
        #expect((line["findings"] as? [Any])?.isEmpty == true)
        #expect(line["writer"] is NSNull && line["migrating_to"] is NSNull && line["grace_period"] is NSNull)
    }

    @Test func worksBesideAWriter() async throws {
        let container = try ShelfStore.container(shelves.path)
        defer { try? container.close() }
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = shelves.path as String] in runFaultlineTool(["doctor", store])
        }
        let output = text(result.standardOutputContent)
        #expect(output.contains("writer      process \(ProcessInfo.processInfo.processIdentifier) on "))
        #expect(output.contains("closed      no, it is open"))
    }

    @Test func aDamagedRowIsFound() async throws {
        try shelves.rot(Data("volume-3-1".utf8), inFilesOf: "s-")
        let (line, finding) = try await finding(shelves.path)
        #expect(line["doctor"] as? String == "findings")
        #expect(finding["code"] as? String == "damage")
        #expect((finding["path"] as? String)?.hasPrefix(shelves.path + "/s-") == true)
        #expect(finding["offset"] as? Int ?? 0 > 0)
        #expect((finding["remedy"] as? String)?.contains("`faultline salvage \(shelves.path) NEW`") == true)
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardOutputContent]) {
            [store = shelves.path as String] in runFaultlineTool(["doctor", store])
        }
        let output = text(result.standardOutputContent)
        #expect(output.hasPrefix("\(shelves.path): 1 finding\n"))
        #expect(output.contains("\n  -> `faultline verify \(shelves.path)` shows the extent."))
    }

    @Test func theBeginningOfALargeValueIsRead() async throws {
        try shelves.rot(ShelfStore.pages(4, 2).prefix(64), inFilesOf: "b-")
        #expect(try await finding(shelves.path).one["code"] as? String == "damage")
    }

    /// A page of the checkpoint; the page map at its end, without which the opening rebuilds the tables.
    @Test(arguments: ["t-", "r-"]) func aFileThatIsMadeAgainLosesNothing(letter: String) async throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: shelves.path) where name.hasPrefix(letter) {
            let url = URL(filePath: shelves.path + "/" + name)
            var bytes = try Data(contentsOf: url)
            bytes[bytes.count - 10] ^= 1
            try bytes.write(to: url)
            break
        }
        let finding = try await finding(shelves.path).one
        #expect(finding["code"] as? String == "derived damage")
        #expect((finding["remedy"] as? String)?.hasPrefix("Open the store again") == true)
    }

    @Test func aStoppedMigrationIsFound() async throws {
        let path = shelves.folder.path + "/notes"
        let configuration = ModelConfiguration(url: URL(filePath: path))
        let container = try ModelContainer(for: Notes1.Note.self, configurations: configuration)
        let context = ModelContext(container)
        for text in ["one word", ""] { context.insert(Notes1.Note(text: text)) }
        try context.save()
        try container.close()
        #expect(throws: MigrationError.self) {
            try ModelContainer(
                for: Schema(versionedSchema: Notes2.self), migrationPlan: NotePlan.self,
                configurations: configuration)
        }
        let (line, finding) = try await finding(path)
        #expect(line["migrating_to"] as? String == "2.0.0")
        #expect(finding["code"] as? String == "migration")
        #expect((finding["remedy"] as? String)?.hasPrefix("Open the store with the program") == true)
    }

    @Test func lostSavesAreFound() async throws {
        let path = try ShelfStore.cut(shelves.folder)
        let (line, finding) = try await finding(path, status: 3)
        #expect(line["doctor"] as? String == "failed")
        #expect(finding["code"] as? String == "lost saves")
        #expect((finding["remedy"] as? String)?.contains("`faultline repair \(path) --accept-loss`") == true)
    }

    @Test func aStoreWithoutAManifestSendsToSalvage() async throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: shelves.path) where name.hasPrefix("m-") {
            try FileManager.default.removeItem(atPath: shelves.path + "/" + name)
        }
        let finding = try await finding(shelves.path, status: 3).one
        #expect(finding["code"] as? String == "damage")
        #expect((finding["remedy"] as? String)?.contains("`faultline salvage \(shelves.path) NEW`") == true)
    }

    @Test func noStoreIsMade() async throws {
        let path = shelves.folder.path + "/none"
        let result = try await #require(processExitsWith: .exitCode(3), observing: [\.standardOutputContent]) {
            [path = path as String] in runFaultlineTool(["doctor", path])
        }
        #expect(text(result.standardOutputContent).hasPrefix("\(path): cannot be opened\nunopened: There is no such"))
        #expect(!FileManager.default.fileExists(atPath: path))
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(try await finding(path, status: 3).one["code"] as? String == "unopened")
    }

    @Test func filesOfUnknownContentAreFound() async throws {
        try FileManager.default.createDirectory(
            atPath: shelves.path + "/quarantine", withIntermediateDirectories: false)
        try Data(count: 2_048).write(to: URL(filePath: shelves.path + "/quarantine/m-00000000000000ff.flm"))
        let diagnosis = try Diagnosis(shelves.path, OpenedStore(shelves.path))
        #expect(diagnosis.findings.map(\.code) == [.quarantinedFiles])
        #expect(diagnosis.findings.first?.message.hasPrefix("1 file of 2.00 KiB is in quarantine/") == true)
    }

    @Test func deadBytesAndAFullDiskAreFound() throws {
        let (log, _) = try OpenedStore.openForWriting(shelves.path)
        var blobs: [RecordID] = []
        _ = try log.write(author: nil) { transaction in
            for number in 0..<60 {
                let bytes = [UInt8](ShelfStore.pages(100, number))
                blobs.append(
                    try bytes.withUnsafeBytes {
                        try transaction.putBlob($0, owner: BlobOwner(table: TableID(rawValue: 16), slot: 0, id: 1))
                    })
            }
        }
        _ = try log.write(author: nil) { transaction in
            for blob in blobs { try transaction.deleteBlob(blob) }
        }
        try log.close()
        let store = try OpenedStore(shelves.path)
        #expect(try Diagnosis(shelves.path, store).findings == [])
        var limits = Diagnosis.Limits()
        limits.deadByteCount = 0
        limits.freeByteCount = .max
        let findings = try Diagnosis(shelves.path, store, limits: limits).findings
        #expect(findings.map(\.code) == [.deadSpace, .diskSpace])
        #expect(findings.first?.remedy == "`faultline compact \(shelves.path)` frees them.")
    }

    @Test func commandsCanBePasted() async throws {
        let path = shelves.folder.path + "/it's a store"
        try FileManager.default.moveItem(atPath: shelves.path, toPath: path)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasPrefix("m-") {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
        let remedy = try #require(try await finding(path, status: 3).one["remedy"] as? String)
        #expect(remedy.contains("`faultline salvage '\(shelves.folder.path)/it'\\''s a store' NEW`"))
    }
}
