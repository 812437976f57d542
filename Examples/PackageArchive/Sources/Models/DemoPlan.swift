import Faultline

/// From the first schema of the demo to the third: one stage without code, one that splits packages.
enum DemoPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [DemoV1.self, DemoV2.self, DemoV3.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: DemoV1.self, toVersion: DemoV2.self), split]
    }

    private static var split: MigrationStage {
        .streamed(
            fromVersion: DemoV2.self,
            toVersion: DemoV3.self,
            StreamedEntity(DemoV2.Package.self) { old, output in
                let package = DemoV3.Package(old)
                package.section = try output.object(migratedFrom: old.section)
                package.source = try output.object(migratedFrom: old.source)
                package.maintainer = try output.upsert(DemoV3.Maintainer(WrittenMaintainer(old.maintainer)))
                if let blob = old.blob(\.payload) {
                    let payload = DemoV3.Payload(path: old.payloadPath ?? "")
                    // By reference: not a byte of the file is read.
                    payload.setBlob(blob, for: \.bytes)
                    package.payload = payload
                }
                try output.insert(package)
            }
        )
    }
}
