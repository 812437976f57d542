import PackageArchive
import Testing

@Suite struct ChildOutputTests {
    static func text(of arguments: [String]) throws -> String {
        let output = try ChildOutput(arguments)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 5, alignment: 1)
        defer { memory.deallocate() }
        var bytes: [UInt8] = []
        while case let count = try output.read(into: memory), count > 0 { bytes += memory[..<count] }
        try output.finish()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func readsAllThatACommandPrints() throws {
        #expect(try Self.text(of: ["printf", "%s-", "one", "two and three", ""]) == "one-two and three--")
    }

    @Test func speaksTheLanguageOfThePolicy() throws {
        #expect(try Self.text(of: ["sh", "-c", "echo $LC_ALL; cat"]) == "C\n")
    }

    @Test func saysThatACommandIsMissing() {
        let error = #expect(throws: SourceError.self) { try ChildOutput(["faultline-has-no-such-command"]) }

        #expect(error?.code == .cannotStart)
    }

    @Test func saysThatACommandFailed() {
        let error = #expect(throws: SourceError.self) { try Self.text(of: ["sh", "-c", "exit 3"]) }

        #expect(error?.code == .commandFailed)
        #expect(error?.message == "the command ended with status 3")
    }

    @Test func endsACommandThatIsLeftAlone() throws {
        _ = try ChildOutput(["sleep", "1000"])
    }
}
