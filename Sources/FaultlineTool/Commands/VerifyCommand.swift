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
        var progress = ProgressLine("verifying", unit: "bytes and objects")
        let begin = monotonicSeconds()
        let check = StoreCheck(store)
        try ToolFailure.working { try check.run { progress.update($0) } }
        let findings = check.findings
        progress.finish()
        let seconds = monotonicSeconds() - begin
        for finding in findings { finding.print(asJSON: arguments.json) }
        let danglingCount = check.dangling.reduce(0) { $0 + $1.count }
        if arguments.json {
            var line = JSONLine()
            line.add("verify", findings.isEmpty ? "ok" : "failed")
            line.add("findings", findings.count)
            line.add("dangling", danglingCount)
            line.add("objects", check.objectCount)
            line.add("seconds", seconds)
            Terminal.output.write(line.line + "\n")
        } else {
            for references in check.dangling { Terminal.output.write("\(references)\n") }
            let words = findings.isEmpty ? "sound" : "\(Quantity.count(findings.count)) findings"
            Terminal.output.write(
                "\(arguments.store): \(words); \(Quantity.count(check.objectCount)) objects, \(Quantity.seconds(seconds))\n"
            )
        }
        if !findings.isEmpty { endProcess(ToolFailure.refused) }
    }
}
