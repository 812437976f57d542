import ArgumentParser
import FaultlineLog

/// `faultline verify`: reads everything and reports what is wrong.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads every record, blob, index and reference of a store, and names what is wrong."
    )

    @OptionGroup var arguments: StoreArguments

    func run() throws {
        let store = try OpenedStore(arguments.store)
        let begin = monotonicSeconds()
        var progress: ProgressLine?
        var list = StoreFindingList(asJSON: arguments.json)
        let check = StoreCheck(store) { finding in
            progress?.finish()
            list.add(finding)
        }
        try ToolFailure.working {
            try check.run { done, total in
                if progress == nil { progress = ProgressLine("verifying", total: total, unit: "bytes") }
                progress?.update(done)
            }
        }
        progress?.finish()
        let seconds = monotonicSeconds() - begin
        list.finish()
        let danglingCount = check.dangling.reduce(0) { $0 + $1.count }
        if arguments.json {
            var line = JSONLine()
            line.add("verify", list.count == 0 ? "ok" : "failed")
            line.add("findings", list.count)
            line.add("dangling", danglingCount)
            line.add("objects", check.objectCount)
            line.add("seconds", seconds)
            Terminal.output.write(line.line + "\n")
        } else {
            for references in check.dangling { Terminal.output.write("\(references)\n") }
            let words = list.count == 0 ? "sound" : "\(Quantity.count(list.count)) findings"
            Terminal.output.write(
                "\(arguments.store): \(words); \(Quantity.count(check.objectCount)) objects, \(Quantity.seconds(seconds))\n"
            )
        }
        if list.count > 0 { endProcess(ToolFailure.refused) }
    }
}
