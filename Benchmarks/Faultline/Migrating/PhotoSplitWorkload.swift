import BenchmarkKit
import Faultline

extension Workload {
    /// `w9c`: opens the store under a version with the photos in a separate entity, and reads one object.
    static let w9c = Workload(
        "w9c",
        defaultCount: Photographed.count,
        isDefaultMost: true,
        start: .changing(KeptPhotos.full)
    ) { run in
        let configuration = EmployeeStore.configuration(run.store, ceilingMiB: run.budgetMiB)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let container = try ModelContainer(
            for: Schema(versionedSchema: PhotoEntities.self),
            migrationPlan: PhotoSplittingPlan.self,
            configurations: configuration
        )
        let context = ModelContext(container)
        var first = FetchDescriptor<PhotoEntities.Employee>()
        first.fetchLimit = 1
        let found = try context.fetch(first).map(\.name)
        measurement.end()
        try check("first name", found, is: [EmployeeMaker().employee(1).name])
        try check("objects written", container.migrationReport.objectsWritten, is: 2 * run.n)
        var line = measurement.line(workload: "w9c", n: run.n, operations: run.n)
        line.blobBytesRead = container.migrationReport.blobBytesRead
        try check("bytes of photos read", container.migrationReport.blobBytesRead, is: 0)

        var sum: UInt64 = 0
        var names: [String] = []
        try context.enumerate(FetchDescriptor<PhotoEntities.Employee>()) { employee in
            names.append(employee.name)
            employee.photo?.bytes.withUnsafeBytes { sum &+= Photo.sum($0) }
        }
        let maker = EmployeeMaker()
        try check("names", names, is: (0..<run.n).map { maker.employee($0 + 1).name })
        try check("words of photos", sum, is: Photo.sum(first: run.n))
        try container.close()
        return line
    }
}
