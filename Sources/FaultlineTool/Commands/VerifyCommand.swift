import ArgumentParser
import FaultlineCommands
import FaultlineLog

/// `faultline verify`: reads everything and reports every fault.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "verify",
        abstract: "Reads every record, blob, index and reference of a store, and names each fault.",
        example: "faultline verify /var/lib/photos.store"
    )

    @OptionGroup var arguments: StoreArguments

    func run() throws {
        let store = try OpenedStore(arguments.store)
        let begin = monotonicSeconds()
        let (check, findingCount) = try StoreCheck.show(store, asJSON: arguments.json)
        let seconds = monotonicSeconds() - begin
        let danglingCount = check.dangling.reduce(0) { $0 + $1.count }
        if arguments.json {
            var line = JSONLine()
            line.add("verify", findingCount == 0 ? "ok" : "failed")
            line.add("findings", findingCount)
            line.add("dangling", danglingCount)
            check.orphans.add(to: &line)
            line.add("objects", check.objectCount)
            line.add("seconds", seconds)
            Terminal.output.write(line.line + "\n")
        } else {
            let words = findingCount == 0 ? "sound" : "\(Quantity.count(findingCount)) findings"
            Terminal.output.write(
                "\(arguments.store): \(words); \(Quantity.count(check.objectCount)) objects, \(Quantity.seconds(seconds))\n"
            )
        }
        if findingCount > 0 { endProcess(CommandFailure.refused) }
    }
}
