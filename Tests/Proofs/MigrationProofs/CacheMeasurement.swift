import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// The costs of reading much more data than fits in the cache.
struct CacheMeasurement: Sendable {
    /// The number of bytes in the values that were read.
    var byteCount = 0
    /// The increase of the allocator's peak over the allocated memory before.
    var allocatedByteCount = 0
    /// The increase of the peak of resident memory.
    var peakByteCount = 0
    /// The largest memory that the engine reported.
    var cacheByteCount = 0
}

/// Holds a fault for every object of `prepareMigrationMeasurement`, and reads all of them twice: in the order of
/// creation, and scattered.
func measureCache(_ directory: String, rows: Int, budget: Int) throws -> CacheMeasurement {
    var options = LogOptions()
    options.memoryBudget = budget
    let container = try ModelContainer(for: Measured1.models, directory: directory, on: PosixDisk(), options: options)
    let context = ModelContext(container)
    let employees = try context.fetch(FetchDescriptor<Measured1.Employee>())
    guard employees.count == rows else { throw ProofError("\(employees.count) objects instead of \(rows)") }

    var measurement = CacheMeasurement()
    let rise = try PeakMemory.Rise()
    let allocatedBefore = PeakMemory.allocatedByteCount
    func touch(_ place: Int) throws {
        let employee = employees[place]
        guard employee.number == place else { throw ProofError("object \(place) has another's number") }
        measurement.byteCount += employee.payload.utf8.count
        if place % 16 == 0 {
            let allocated = PeakMemory.allocatedByteCount - allocatedBefore
            measurement.allocatedByteCount = max(measurement.allocatedByteCount, allocated)
            measurement.cacheByteCount = max(measurement.cacheByteCount, container.counters.cacheBytes)
        }
    }
    for place in 0..<rows { try touch(place) }
    // A stride without a common factor with the count visits every object once.
    var stride = rows * 5 / 8 | 1
    while greatestCommonDivisor(stride, rows) != 1 { stride += 2 }
    for step in 0..<rows { try touch(step * stride % rows) }
    measurement.peakByteCount = try rise.byteCount()
    try withExtendedLifetime(employees) { try container.close() }
    return measurement
}

private func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
    second == 0 ? first : greatestCommonDivisor(second, first % second)
}

/// An error for an unexpected result.
private struct ProofError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
