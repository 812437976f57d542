internal import FaultlineObjects

extension MigrationReport {
    /// The same report for a migration that an error has stopped.
    package func stopped(by error: any Error) -> MigrationReport {
        var report = self
        report.stop = Stop(error)
        return report
    }

    /// The line of the error.
    var stopLine: String? {
        stop.map { stop in
            let object = [stop.entity, stop.object.map { "\($0)" }].compactMap { $0 }.joined(separator: " ")
            let places = [stop.stage, object.isEmpty ? nil : object].compactMap { $0 }
            return "  stopped\(places.isEmpty ? "" : " at \(places.joined(separator: ", "))"): \(stop.error)"
        }
    }
}

extension MigrationReport.Stop {
    fileprivate init(_ error: any Error) {
        let known = error as? MigrationError
        let storage = StorageError.translating(error) as? StorageError
        code = known.map { "\($0.code)" } ?? storage.map { "\($0.code)" } ?? "other"
        stage = known?.stage
        entity = known?.entityName
        property = known?.propertyName
        object = known?.object
        self.error = "\(known ?? StorageError.translating(error))"
    }
}
