/// The modules that each target may import.
///
/// This is the table in docs/Architecture.md, from the lowest layer up.
enum LayerTable {
    struct Row: Sendable {
        let target: String
        /// Targets of this package.
        let targets: Set<String>
        /// Additional modules beside those that every target may import.
        let others: Set<String>

        func allows(_ module: String) -> Bool {
            targets.contains(module) || others.contains(module) || LayerTable.everywhere.contains(module)
                || (others.contains("SwiftSyntax") && module.hasPrefix("Swift"))
        }
    }

    /// Modules that every target may import: the standard library, the C library and swift-collections.
    static let everywhere: Set<String> = [
        "Swift", "Glibc", "Synchronization", "Collections", "BitCollections", "DequeModule", "HashTreeCollections",
        "HeapModule", "OrderedCollections",
    ]

    /// Additional modules for targets from `FaultlineObjects` upward.
    private static let upper: Set<String> = [
        "Dispatch", "Foundation", "FoundationEssentials", "Observation", "Logging", "Metrics", "CoreMetrics",
    ]

    static let rows: [Row] = [
        Row(target: "CLZ4", targets: [], others: []),
        Row(target: "CFaultline", targets: [], others: []),
        Row(target: "FaultlineDisk", targets: ["CFaultline"], others: []),
        Row(target: "FaultlineLog", targets: ["FaultlineDisk", "CFaultline", "CLZ4"], others: []),
        Row(target: "FaultlineBackup", targets: ["FaultlineLog", "FaultlineDisk"], others: ["Foundation"]),
        Row(target: "FaultlineModel", targets: [], others: ["FoundationEssentials"]),
        Row(target: "FaultlineText", targets: [], others: []),
        Row(
            target: "FaultlineStore", targets: ["FaultlineDisk", "FaultlineLog", "FaultlineModel", "FaultlineText"],
            others: []
        ),
        Row(
            target: "FaultlineRepair", targets: ["FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineDisk"],
            others: []
        ),
        Row(
            target: "FaultlineObjects",
            targets: [
                "FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineText", "FaultlineDisk", "CFaultline",
            ],
            others: upper
        ),
        Row(
            target: "FaultlineMigration",
            targets: ["FaultlineObjects", "FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineDisk"],
            others: upper
        ),
        Row(
            target: "Faultline",
            targets: [
                "CLZ4", "CFaultline", "FaultlineDisk", "FaultlineLog", "FaultlineModel", "FaultlineStore",
                "FaultlineObjects", "FaultlineMigration", "FaultlineBackup", "FaultlineText",
            ],
            others: upper
        ),
        Row(target: "FaultlineMacros", targets: [], others: ["SwiftSyntax"]),
        Row(
            target: "FaultlineCoreData",
            targets: ["Faultline", "FaultlineMigration", "FaultlineObjects", "FaultlineModel", "FaultlineDisk"],
            others: upper.union(["FoundationXML"])
        ),
        Row(target: "FaultlineTesting", targets: ["Faultline", "FaultlineDisk"], others: upper),
        Row(
            target: "FaultlineService",
            targets: [
                "Faultline", "FaultlineMigration", "FaultlineObjects", "FaultlineModel", "FaultlineLog",
                "FaultlineDisk",
            ],
            others: upper.union(["Configuration", "ServiceLifecycle", "Tracing"])
        ),
        Row(target: "CSQLite", targets: [], others: []),
        Row(
            target: "FaultlineImport",
            targets: [
                "Faultline", "FaultlineCoreData", "FaultlineObjects", "FaultlineStore", "FaultlineModel",
                "FaultlineLog", "FaultlineDisk", "CSQLite",
            ],
            others: upper
        ),
        Row(
            target: "FaultlineCommands",
            targets: [
                "Faultline", "FaultlineMigration", "FaultlineObjects", "FaultlineStore", "FaultlineModel",
                "FaultlineLog", "FaultlineDisk",
            ],
            others: upper.union(["ArgumentParser"])
        ),
        Row(
            target: "FaultlineBrowse",
            targets: [
                "FaultlineCommands", "Faultline", "FaultlineObjects", "FaultlineStore", "FaultlineModel",
                "FaultlineLog", "FaultlineDisk",
            ],
            others: upper.union(["HTTPTypes", "Hummingbird", "NIOCore"])
        ),
        Row(
            target: "PackageArchive", targets: ["Faultline", "FaultlineCommands"],
            others: upper.union(["ArgumentParser"])
        ),
        Row(
            target: "PhotoService", targets: ["Faultline", "FaultlineService"],
            others: upper.union(["ArgumentParser", "Hummingbird", "PhotoAPI", "ServiceLifecycle", "UnixSignals"])
        ),
        Row(
            target: "FaultlineTool",
            targets: [
                "PackageArchive", "FaultlineBrowse", "FaultlineCommands", "FaultlineImport", "FaultlineCoreData",
                "Faultline",
                "FaultlineMigration", "FaultlineBackup", "FaultlineObjects", "FaultlineStore", "FaultlineModel",
                "FaultlineText", "FaultlineRepair", "FaultlineLog", "FaultlineDisk",
            ],
            others: upper.union(["ArgumentParser"])
        ),
        Row(target: "FaultlineMain", targets: ["FaultlineTool"], others: []),
    ]

    static func row(of target: String) -> Row? { rows.first { $0.target == target } }
}
