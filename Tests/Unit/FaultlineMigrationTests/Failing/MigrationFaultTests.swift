import MigrationSimulation
import Testing

struct MigrationFaultTests {
    /// `make faults` fails more calls, and every one of them with EVERY=1.
    @Test(arguments: MigrationLife.allCases.filter { !$0.isPreview && !$0.isRollback }, MigrationFault.allCases)
    func survivesADiskThatFails(in life: MigrationLife, as fault: MigrationFault) {
        let report = runMigrationFaults(life, fault, seeds: 1..<2, stride: 521)

        #expect(report.violations.isEmpty, "\(report)\n\(report.violations.prefix(3).joined(separator: "\n"))")
        #expect(report.injected > 0)
        if fault == .full || fault == .broken { #expect(report.refused > 0) }
    }
}
