#if !Import
import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

/// `faultline import` in a tool that was built without the trait.
struct ImportTraitTests {
    @Test func theMissingTraitIsNamed() async throws {
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            runFaultlineTool(["import", "/none/photos.sqlite", "/none/photos.store"])
        }
        let message = text(result.standardErrorContent)
        #expect(message.contains("package trait Import") && message.contains("libsqlite3-dev"), "\(message)")
    }
}
#endif
