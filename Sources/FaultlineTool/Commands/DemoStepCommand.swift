import ArgumentParser
import FaultlineCommands
import PackageArchive

/// `faultline demo-step`: one measured step of the demo, in a process of its own.
struct DemoStepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "demo-step", shouldDisplay: false)

    @Argument var step: String
    @Argument var store: String
    @Option var cacheMib = 4
    @Option var ceilingMib = 64

    func run() throws {
        guard let step = MeasuredStep(rawValue: step) else {
            let names = MeasuredStep.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(CommandFailure.wrongUsage, "There is no step \(step); there are \(names).")
        }
        let figures = try CommandFailure.opening(store) {
            try step.run(on: store, cacheByteCount: cacheMib << 20, ceilingByteCount: ceilingMib << 20)
        }
        Terminal.output.write(figures.lines)
    }
}
