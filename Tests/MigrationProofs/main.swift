import FaultlineDisk
import MigrationSimulation

// crash <first seed> <last seed> <images> [site] | prepare <directory> <rows> <bytes> | measure <directory> <rows>
// <ceiling in MiB>
let arguments = CommandLine.arguments
func number(_ place: Int) -> Int { arguments.count > place ? Int(arguments[place]) ?? 0 : 0 }
switch arguments.count > 1 ? arguments[1] : "" {
case "crash":
    let report = runMigrationCrash(
        seeds: UInt64(number(2))..<UInt64(number(3)), imagesPerGap: number(4),
        leavingOut: arguments.count > 5 ? .init(stringLiteral: arguments[5]) : nil)
    print(report)
    report.violations.prefix(3).forEach { print($0.prefix(600)) }
case "prepare":
    try prepareMigrationMeasurement(arguments[2], rows: number(3), payloadByteCount: number(4))
default:
    print(try measureMigration(arguments[2], rows: number(3), ceiling: number(4) << 20))
}
