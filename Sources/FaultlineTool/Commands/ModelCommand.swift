import ArgumentParser
import FaultlineCommands
import FaultlineCoreData
import Foundation

/// `faultline model`: the versions of a model of Core Data, and its classes.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "model",
        abstract: "Shows the versions of a Core Data model, what changed between them, and writes its classes.",
        discussion: """
            A package is an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a mapping model: an .xcmappingmodel or .cdm, \
            which is shown by itself. Each step from a version to the next is \
            lightweight, needs a default value, or needs a migration stage. --swift writes a class for each entity of \
            one version. --mapping shows a mapping model, and the parts of it that have no equivalent. Exit status: 0 done; 1 something in the model could not be carried over, and is listed; 3 the \
            package cannot be read.
            """,
        example: "faultline model /var/lib/Library.xcdatamodeld --swift /var/lib/Models"
    )

    @Argument(help: "The model package.")
    var package: String

    @Option(help: ArgumentHelp("Shows the changes since this version only.", valueName: "version"))
    var from: String?

    @Option(
        help: ArgumentHelp("The version for --from and --swift; the current one if left out.", valueName: "version"))
    var to: String?

    @Option(help: ArgumentHelp("Writes @Model classes into this folder, one file an entity.", valueName: "folder"))
    var swift: String?

    @Option(
        help: ArgumentHelp(
            "Shows a mapping model, an .xcmappingmodel or a .cdm: between --from and --to, or the versions that it names.",
            valueName: "file"))
    var mapping: String?

    @Flag(help: "Prints JSON, one object a line.")
    var json = false

    func run() throws {
        if MappingModelFile.extensions.contains(URL(filePath: package).pathExtension) { return try showMapping() }
        let package = try CommandFailure.opening(package) { try ModelPackage(contentsOf: URL(filePath: self.package)) }
        let target = try to.map { try version($0, of: package) } ?? package.current
        let steps =
            try from.map { [ModelStep(from: try version($0, of: package), to: target)] }
            ?? zip(package.versions, package.versions.dropFirst()).map(ModelStep.init)
        var summary = ModelSummary(path: self.package, package: package, steps: steps)
        if let folder = swift { summary.written = try ModelClassFolder(folder).write(target.swiftSource(), of: target) }
        if let path = mapping {
            let file = try CommandFailure.opening(path) { try MappingModelFile(contentsOf: URL(filePath: path)) }
            summary.mapping = try MappingSummary(
                file, of: package, from: from.map { try version($0, of: package) },
                to: to.map { try version($0, of: package) })
        }
        Terminal.output.write(json ? summary.line.line + "\n" : summary.text(isStyled: Terminal.output.isStyled))
        if !summary.findings.isEmpty { endProcess(CommandFailure.refused) }
    }

    /// Shows the mapping model that stands in place of a package.
    private func showMapping() throws {
        let file = try CommandFailure.opening(package) { try MappingModelFile(contentsOf: URL(filePath: package)) }
        let summary = MappingSummary(file)
        let findings = summary.findings.map { (version: "", finding: $0) }
        if json {
            var line = summary.line
            line.add("findings", findings.map(ModelSummary.line))
            Terminal.output.write(line.line + "\n")
        } else {
            Terminal.output.write(
                summary.text(isStyled: Terminal.output.isStyled) + ModelSummary.text(of: findings))
        }
        if !findings.isEmpty { endProcess(CommandFailure.refused) }
    }

    private func version(_ name: String, of package: ModelPackage) throws -> ModelVersion {
        if let version = package.version(named: name) { return version }
        let names = package.versions.map(\.name).joined(separator: ", ")
        throw CommandFailure(CommandFailure.wrongUsage, "\(self.package) has no version \(name). It has: \(names).")
    }
}
