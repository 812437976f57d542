import ArgumentParser
import FaultlineCommands

/// `faultline doctor`: whether a store is well, and the next step for each finding.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "doctor",
        abstract: "Says in about ten lines whether a store is well, and what to do if it is not.",
        discussion: """
            Writes nothing, and works beside the process that has the store open. The check is quick: it reads the tables and some records of each, and \
            `faultline verify` reads everything. Exit status: 0 the store is well; 1 there are findings; 3 it cannot be opened, and the finding says why.
            """,
        example: "faultline doctor /var/lib/photos.store"
    )

    @OptionGroup var arguments: StoreArguments

    func run() throws {
        let store: OpenedStore
        do {
            store = try OpenedStore(arguments.store)
        } catch {
            showUnopened(DoctorFinding(unopened: arguments.store, error))
            endProcess(error.status)
        }
        let diagnosis = try CommandFailure.working { try Diagnosis(arguments.store, store) }
        Terminal.output.write(
            arguments.json ? diagnosis.line.line + "\n" : diagnosis.text(isStyled: Terminal.output.isStyled))
        if !diagnosis.findings.isEmpty { endProcess(CommandFailure.refused) }
    }

    private func showUnopened(_ finding: DoctorFinding) {
        guard arguments.json else {
            Terminal.output.write("\(arguments.store): cannot be opened\n\(finding.text)\n")
            return
        }
        var line = JSONLine()
        line.add("doctor", "failed")
        line.add("store", arguments.store)
        line.add("findings", [finding.line])
        Terminal.output.write(line.line + "\n")
    }
}
