import Testing

/// Runs the tests of Swift Testing; there are none of XCTest.
///
/// SwiftPM starts it once for each of the two libraries. Without a main of our own it would look for tests of XCTest in an
/// index of all sources, which takes the compiler longer to write than code.
@main
struct TestRunner {
    static func main() async {
        guard CommandLine.arguments.contains("swift-testing") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
