import ArgumentParser
import Dispatch
import Faultline
import FaultlineBrowse
import FaultlineCommands
import FoundationEssentials

/// `faultline browse`: the store as pages in a browser.
struct BrowseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "browse",
        abstract: "Shows a store as pages in a browser on this machine; nothing is written.",
        discussion: """
            Prints the address to open: it has a token, which other users of the machine do not know. The pages show entities, objects with their \
            relationships and pictures, the history, and the space that segments take; they follow the process that writes the store. The server \
            listens on 127.0.0.1 only, until it is interrupted. Needs a tool that was built with the package trait Browse.
            """,
        example: "faultline browse /var/lib/photos.store --port 8090"
    )

    @Argument(help: ArgumentHelp("The directory of the store.", valueName: "store"))
    var store: String

    @Option(help: "The port on 127.0.0.1; 0 takes a free one.")
    var port = 0

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65,535.") }
    }

    func run() throws {
        #if Browse
        let configuration = ModelConfiguration(
            url: URL(filePath: store, directoryHint: .isDirectory), allowsSave: false)
        let container: ModelContainer
        do { container = try ModelContainer(opening: configuration) } catch {
            throw CommandFailure(CommandFailure.cannotOpen, CommandFailure.sentence(for: error))
        }
        let token = BrowseToken.make()
        let path = store
        let site = BrowseSite(container, store: path, base: "/\(token)/") { StoreDiagnosis.text(of: path) }
        let server = BrowseServer(site, token: token, port: port)
        // The tool's commands are not asynchronous.
        let end = DispatchSemaphore(value: 0)
        let failure = BrowseOutcome()
        Task {
            do {
                try await server.run { address in
                    Terminal.output.write("\(address)\nOpen this address in a browser; Ctrl-C ends.\n")
                }
            } catch { failure.set(error) }
            end.signal()
        }
        end.wait()
        try? container.close()
        if let error = failure.error {
            throw CommandFailure(
                CommandFailure.refused,
                "Pages cannot be served on port \(port). Choose another --port. \(CommandFailure.sentence(for: error))"
            )
        }
        #else
        throw CommandFailure(
            CommandFailure.refused,
            "This tool was built without the package trait Browse, which brings a web server. Build it with `swift build --traits Browse`."
        )
        #endif
    }
}
