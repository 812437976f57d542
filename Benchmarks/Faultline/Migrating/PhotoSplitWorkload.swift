import BenchmarkKit
import Faultline

extension Workload {
    /// `w9c`: opens the store under a version with the photos in a separate entity, and reads one object.
    static let w9c = splittingPhotos("w9c", by: PhotoSplittingPlan.self, readsPhotos: false)
    /// `w9c-data`: the same with photos that pass through the closure as `Data`.
    static let w9cData = splittingPhotos("w9c-data", by: PhotoDataPlan.self, readsPhotos: true)

    private static func splittingPhotos(
        _ name: String, by plan: any SchemaMigrationPlan.Type, readsPhotos: Bool
    ) -> Workload {
        Workload(
            name, defaultCount: Photographed.count, isDefaultMost: true, start: .changing(KeptPhotos.full)
        ) { try splitPhotos(name, by: plan, readsPhotos: readsPhotos, $0) }
    }

    private static func splitPhotos(
        _ name: String, by plan: any SchemaMigrationPlan.Type, readsPhotos: Bool, _ run: WorkloadRun
    ) throws -> ResultLine {
        let configuration = EmployeeStore.configuration(run.store, ceilingMiB: run.budgetMiB)
        let measurement = WorkloadMeasurement(store: run.store)
        measurement.begin()
        measurement.resume()
        let container = try ModelContainer(
            for: Schema(versionedSchema: PhotoEntities.self),
            migrationPlan: plan,
            configurations: configuration
        )
        let context = ModelContext(container)
        var first = FetchDescriptor<PhotoEntities.Employee>()
        first.fetchLimit = 1
        let found = try context.fetch(first).map(\.name)
        measurement.end()
        try check("first name", found, is: [EmployeeMaker().employee(1).name])
        try check("objects written", container.migrationReport.objectsWritten, is: 2 * run.n)
        var line = measurement.line(workload: name, n: run.n, operations: run.n)
        line.blobBytesRead = container.migrationReport.blobBytesRead
        try check(
            "bytes of photos read", container.migrationReport.blobBytesRead,
            is: readsPhotos ? run.n * Photo.byteCount : 0)

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
