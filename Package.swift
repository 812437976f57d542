// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

// A simulation of the engine under the crash simulation's disk.
let simulated: [Target.Dependency] = [
    "CrashSimulation", "FaultlineRepair", "FaultlineLog", "FaultlineDisk", "FaultlineTestSupport",
]
// The store below its contexts, for tests that look into it.
let stored: [Target.Dependency] = [
    "FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineDisk", "FaultlineTestSupport",
]
// What the product for services and its tests use, with its trait only.
let operated: [Target.Dependency] = [
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Service"])),
    .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Service"])),
    .product(name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Service"])),
]
// What the pages of `faultline browse` are served by, with its trait only.
let served: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Browse"])),
    .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Browse"])),
    .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Browse"])),
]
let logged: [Target.Dependency] = [
    .product(name: "Logging", package: "swift-log"), .product(name: "CoreMetrics", package: "swift-metrics"),
]
let metered: [Target.Dependency] = logged + [.product(name: "MetricsTestKit", package: "swift-metrics")]

func unitTests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: "Tests/Unit/\(name)")
}
func proof(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/Proofs/\(name)")
}
func proofTool(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Tests/Proofs/\(name)")
}

let package = Package(
    name: "Faultline",
    products: [
        .library(name: "Faultline", targets: ["Faultline"]),
        .library(name: "FaultlineCoreData", targets: ["FaultlineCoreData"]),
        .library(name: "FaultlineTesting", targets: ["FaultlineTesting"]),
        .library(name: "FaultlineCommands", targets: ["FaultlineCommands"]),
        .library(name: "FaultlineService", targets: ["FaultlineService"]),
        .library(name: "FaultlineImport", targets: ["FaultlineImport"]),
        .executable(name: "faultline", targets: ["faultline"]),
    ],
    traits: [
        .trait(
            name: "Service",
            description: "FaultlineService: a store for swift-service-lifecycle, with traces and a configuration."),
        .trait(name: "Browse", description: "`faultline browse`: a store as pages, by the web server Hummingbird."),
        .trait(
            name: "Import", description: "FaultlineImport: Core Data's and SwiftData's stores, by the system's SQLite."),
    ],
    dependencies: [
        .package(url: "https://github.com/swiftlang/swift-syntax", exact: "603.0.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        // Only with the trait `Service`: without it they are neither fetched nor resolved.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        // Only with the trait `Browse`.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    // Lowest first: a target imports only what its line names. `TidyTests` checks the imports.
    targets: [
        // The system's LZ4.
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        // The system's SQLite and zlib for the trait `Import`; pkg-config would look for them without it too.
        .systemLibrary(name: "CSQLite"),
        // System calls that Glibc's module lacks, CRC32C in hardware.
        .target(name: "CFaultline"),
        // Files, sync, locks, checksums, bytes: the only code that meets the operating system.
        .target(name: "FaultlineDisk", dependencies: ["CFaultline"]),
        // Records in segments, blobs, a manifest, tables, index runs, snapshots, recovery. Knows no entities.
        .target(name: "FaultlineLog", dependencies: ["FaultlineDisk", "CFaultline", "CLZ4"]),
        // Schemas, entities, differences between two schemas: values, no I/O.
        .target(name: "FaultlineModel"),
        // Words of texts, queries for them, ranks: values, no I/O.
        .target(name: "FaultlineText"),
        // Rows: how an object becomes a record and back, indexes, queries on bytes.
        .target(
            name: "FaultlineStore",
            dependencies: ["FaultlineLog", "FaultlineModel", "FaultlineText", "FaultlineDisk", "CFaultline"]),
        // Reads damaged stores: verifies, salvages, and clears references to deleted objects.
        .target(
            name: "FaultlineRepair",
            dependencies: ["FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineDisk"]),
        // Contexts, identity maps, faults, fetches.
        .target(
            name: "FaultlineObjects",
            dependencies: [
                "FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineText", "FaultlineDisk", "CFaultline",
            ]),
        // Plans, stages, passes.
        .target(
            name: "FaultlineMigration",
            dependencies: ["FaultlineObjects", "FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineDisk"]),
        // Copies of stores in use: for dry runs, and backups with their restoring.
        .target(name: "FaultlineBackup", dependencies: ["FaultlineLog", "FaultlineDisk"]),
        // The compiler plugin behind the macros.
        .macro(
            name: "FaultlineMacros",
            dependencies: [
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftIfConfig", package: "swift-syntax"),
                .product(name: "SwiftOperators", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
            ]),
        // The face: containers, macros. What users import.
        .target(
            name: "Faultline",
            dependencies: [
                "FaultlineMigration", "FaultlineBackup", "FaultlineObjects", "FaultlineStore", "FaultlineText",
                "FaultlineModel", "FaultlineLog", "FaultlineDisk", "FaultlineMacros",
            ] + logged),

        // Core Data's names and conversions, for code that was written for it.
        .target(
            name: "FaultlineCoreData",
            dependencies: ["Faultline", "FaultlineMigration", "FaultlineObjects", "FaultlineModel", "FaultlineDisk"]),

        // For users' tests: locked schemas, golden stores, disks that stop.
        .target(name: "FaultlineTesting", dependencies: ["Faultline", "FaultlineDisk"]),

        // A store as a service of a `ServiceGroup`. Without the trait `Service` it only says that the trait is missing.
        .target(
            name: "FaultlineService",
            dependencies: [
                "Faultline", "FaultlineObjects", "FaultlineMigration", "FaultlineModel", "FaultlineLog",
                "FaultlineDisk",
            ] + logged + operated),

        // Core Data's and SwiftData's SQLite stores. Without the trait `Import` it only says that the trait is missing.
        .target(
            name: "FaultlineImport",
            dependencies: [
                "FaultlineCoreData", "Faultline", "FaultlineObjects", "FaultlineStore", "FaultlineModel",
                "FaultlineLog", "FaultlineDisk", .target(name: "CSQLite", condition: .when(traits: ["Import"])),
            ]),

        // What commands print, and the one that migrates a store by a plan, for users' own executables.
        .target(
            name: "FaultlineCommands",
            dependencies: [
                "Faultline", "FaultlineObjects", "FaultlineMigration", "FaultlineStore", "FaultlineModel",
                "FaultlineLog", "FaultlineDisk",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // A store as pages of HTML; with the trait `Browse`, the server that shows them.
        .target(
            name: "FaultlineBrowse",
            dependencies: [
                "FaultlineCommands", "Faultline", "FaultlineObjects", "FaultlineStore", "FaultlineModel",
                "FaultlineLog", "FaultlineDisk", .product(name: "Logging", package: "swift-log"),
            ] + served),
        // The demo: an application with three versions of its models. The tool runs it.
        .target(
            name: "PackageArchive",
            dependencies: [
                "FaultlineCommands", "Faultline", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Examples/PackageArchive/Sources"),
        // Inspects and verifies stores.
        .target(
            name: "FaultlineTool",
            dependencies: [
                "PackageArchive", "FaultlineBrowse", "FaultlineCommands", "FaultlineImport", "FaultlineCoreData",
                "Faultline",
                "FaultlineObjects", "FaultlineMigration", "FaultlineBackup", "FaultlineStore", "FaultlineText",
                "FaultlineModel", "FaultlineRepair", "FaultlineLog", "FaultlineDisk",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(name: "faultline", dependencies: ["FaultlineTool"], path: "Sources/FaultlineMain"),
        // The benchmarks' data and measuring, and the workloads.
        .target(name: "BenchmarkKit", path: "Benchmarks/Kit"),
        .executableTarget(
            name: "FaultlineBenchmarks",
            dependencies: ["Faultline", "FaultlineStore", "FaultlineLog", "BenchmarkKit"], path: "Benchmarks/Faultline"),

        // Simulated, failing and counting disks; seeds; peak memory.
        .target(name: "CFaultlineTestSupport", path: "Tests/Support/CFaultlineTestSupport"),
        .target(
            name: "FaultlineTestSupport", dependencies: ["FaultlineDisk", "CFaultline", "CFaultlineTestSupport"],
            path: "Tests/Support/FaultlineTestSupport"),
        unitTests("FaultlineTestSupportTests", ["FaultlineTestSupport", "FaultlineDisk"]),
        unitTests("FaultlineDiskTests", ["FaultlineDisk", "CFaultline", "FaultlineTestSupport"]),
        unitTests("FaultlineModelTests", ["FaultlineModel"]),
        unitTests("FaultlineTextTests", ["FaultlineText", "FaultlineTestSupport"]),
        // Starts the compiler plugin that a build of `Faultline` makes, and asks it as the compiler does. A test that
        // depends on the plugin itself has every target built twice: once more for the machine that compiles.
        unitTests("FaultlineMacrosTests", ["Faultline"]),
        unitTests(
            "FaultlineLogTests",
            [
                "FaultlineBackup", "FaultlineRepair", "FaultlineLog", "FaultlineDisk", "FaultlineTestSupport",
                "CFaultline",
            ]),
        unitTests("FaultlineStoreTests", ["FaultlineStore", "FaultlineModel", "FaultlineDisk"]),
        // Power cuts between any two operations of the disk.
        proof(
            "CrashSimulation",
            ["FaultlineBackup", "FaultlineRepair", "FaultlineLog", "FaultlineDisk", "FaultlineTestSupport"]),
        // Every bit of small stores flipped.
        proof("RotSimulation", simulated),
        // Every call of the disk, and every system call, failing in every way.
        .target(name: "CSystemCallFaults", path: "Tests/Support/CSystemCallFaults"),
        proof("FaultSimulation", simulated + ["FaultlineBackup", "CSystemCallFaults"]),
        // A process that writes, killed at any moment.
        proof("KillSimulation", simulated + ["FaultlineBackup"]),
        // Random operations under twelve configurations, against a model.
        proof("ModelSimulation", ["FaultlineRepair", "FaultlineLog", "FaultlineDisk", "FaultlineTestSupport"]),
        // All orders in which the steps of two jobs can follow each other.
        proof("InterleavingSimulation", simulated),
        // One rule after the other broken: `Tests/Proofs/Mutants` lists them.
        .target(name: "MutantSimulation", path: "Tests/Proofs/Mutants/MutantSimulation"),
        .executableTarget(
            name: "MutantProof", dependencies: ["CrashSimulation", "GraphSimulation", "MigrationSimulation"],
            path: "Tests/Proofs/Mutants/MutantProof"),
        .executableTarget(
            name: "FaultlineMutants", dependencies: ["MutantSimulation"], path: "Tests/Proofs/Mutants/FaultlineMutants"),
        // A file system that is filled to its last byte.
        proof("FullDiskSimulation", simulated),
        // Wrong bytes for every decoder; `Tests/Proofs/Instrumented` has the package with the fuzzer.
        proof(
            "FuzzSimulation",
            simulated + ["FaultlineMigration", "FaultlineObjects", "FaultlineStore", "FaultlineModel"]),
        // The long proofs, by `make crash` and others, and what tests measure in a process of its own.
        proofTool(
            "FaultlineProofs",
            [
                "CrashSimulation", "FaultSimulation", "FullDiskSimulation", "InterleavingSimulation",
                "KillSimulation", "ModelSimulation", "RotSimulation", "FaultlineBackup", "FaultlineLog",
                "FaultlineDisk", "FaultlineTestSupport",
            ]),
        // The same for migrations, with the macros.
        proofTool(
            "MigrationProofs",
            [
                "GraphSimulation", "MigrationSimulation", "Faultline", "FaultlineMigration", "FaultlineLog",
                "FaultlineDisk", "FaultlineTestSupport",
            ]),
        // Samples of all proofs.
        .testTarget(
            name: "ProofTests",
            dependencies: [
                "CrashSimulation", "FuzzSimulation", "GraphSimulation", "InterleavingSimulation", "ModelSimulation",
                "MutantSimulation", "RotSimulation", "FaultlineDisk", "FaultlineTestSupport",
            ], path: "Tests/Proofs/ProofTests"),
        // The format's document and fixtures against the code.
        unitTests(
            "FormatTests",
            ["Faultline"] + stored),
        // The public face with model classes: values, relationships, faults, contexts, fetches, bad input.
        unitTests(
            "FaultlineTests",
            ["Faultline", "FaultlineObjects", "FaultlineRepair", "FaultlineText"] + stored + metered),
        // What the object layer is made of: identity map, arena of rows, memory of a fault.
        unitTests(
            "FaultlineObjectsTests",
            [
                "Faultline", "FaultlineObjects", "FaultlineStore", "FaultlineLog", "FaultlineDisk",
                "FaultlineTestSupport", "BenchmarkKit",
            ]),
        // Random operations on objects and their relationships, against plain values.
        proof(
            "GraphSimulation",
            [
                "Faultline", "FaultlineObjects", "FaultlineStore", "FaultlineRepair", "FaultlineLog", "FaultlineDisk",
                "FaultlineTestSupport",
            ]),
        // Migrations killed and cut off from power, for tests and proofs.
        proof(
            "MigrationSimulation",
            ["Faultline", "FaultlineMigration", "FaultlineRepair"] + stored),
        unitTests(
            "FaultlineMigrationTests",
            [
                "Faultline", "FaultlineMigration", "FaultlineBackup", "FaultlineStore", "FaultlineRepair",
                "FaultlineLog", "FaultlineDisk", "FaultlineTestSupport", "MigrationSimulation",
            ]),
        // Also runs the code of the guide and of README: `Guide` has it, and `TidyTests` compares both.
        unitTests(
            "FaultlineTestingTests",
            [
                "FaultlineTesting", "FaultlineCoreData", "Faultline", "FaultlineTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        unitTests(
            "FaultlineCoreDataTests", ["FaultlineCoreData", "Faultline", "FaultlineDisk", "FaultlineTestSupport"]),
        // Empty without the trait `Service`: `.ci/service` runs it.
        unitTests(
            "FaultlineServiceTests",
            [
                "FaultlineService", "Faultline", "FaultlineTestSupport",
                .product(
                    name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Service"])),
                .product(
                    name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle",
                    condition: .when(traits: ["Service"])),
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Service"])),
            ] + metered + operated),
        // Without the trait `Import` it has tests of written classes only: `.ci/import` runs all.
        unitTests(
            "FaultlineImportTests",
            [
                "FaultlineImport", "FaultlineTool", "FaultlineCoreData", "Faultline", "FaultlineObjects",
                .target(name: "CSQLite", condition: .when(traits: ["Import"])),
            ] + stored),
        unitTests(
            "FaultlineCommandsTests",
            ["FaultlineCommands", "Faultline", "FaultlineStore", "FaultlineLog", "FaultlineTestSupport"]),
        unitTests(
            "FaultlineToolTests",
            [
                "FaultlineTool", "FaultlineCommands", "Faultline", "FaultlineMigration", "FaultlineStore",
                "FaultlineLog", "FaultlineTestSupport",
            ]),
        unitTests(
            "FaultlineBrowseTests",
            ["FaultlineBrowse", "Faultline", "FaultlineLog", "FaultlineTestSupport"]),
        .testTarget(
            name: "PackageArchiveTests", dependencies: ["PackageArchive", "FaultlineCommands", "FaultlineTestSupport"],
            path: "Examples/PackageArchive/Tests"),
        // The models of Fixtures/models, compiled as apps are.
        .testTarget(name: "ModelFixtureTests", dependencies: ["Faultline"], path: "Tests/Compilers/ModelFixtureTests"),
        // The same models under other compiler settings.
        .testTarget(name: "ModelsInSwift5", dependencies: ["Faultline"], path: "Tests/Compilers/ModelsInSwift5"),
        .testTarget(
            name: "ModelsOnTheMainActor", dependencies: ["Faultline"], path: "Tests/Compilers/ModelsOnTheMainActor"),
        unitTests("BenchmarkKitTests", ["BenchmarkKit", "FaultlineTestSupport"]),
        .target(name: "SourceSymbols", path: "Tests/Tidy/SourceSymbols"),
        // Prints the names that Swift files declare and use. A macro, so that it shares swift-syntax with the other one.
        .macro(
            name: "SymbolReader",
            dependencies: [
                "SourceSymbols",
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ],
            path: "Tests/Tidy/SymbolReader"),
        .testTarget(name: "TidyTests", dependencies: ["SourceSymbols"], path: "Tests/Tidy/TidyTests"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings =
        switch target.name {
        case "ModelsInSwift5", "ModelFixtureTests":
            [.swiftLanguageMode(.v5)]
        default:
            [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        }
    if target.name == "ModelsOnTheMainActor" {
        target.swiftSettings? += [
            .defaultIsolation(MainActor.self),
            .enableUpcomingFeature("InferIsolatedConformances"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
    }
}

// A compiler plugin that is already built, instead of one that this build makes: `.ci/release` sets it.
if let plugin = Context.environment["FAULTLINE_PLUGIN"] {
    package.targets.removeAll { ["FaultlineMacros", "FaultlineMacrosTests", "SymbolReader"].contains($0.name) }
    for target in package.targets {
        if target.name == "Faultline" {
            target.dependencies.removeAll { $0.isTarget("FaultlineMacros") }
        } else if !target.dependencies.contains(where: { $0.isTarget("Faultline") }) {
            continue
        }
        target.swiftSettings? += [.unsafeFlags(["-load-plugin-executable", "\(plugin)#FaultlineMacros"])]
    }
}

extension Target.Dependency {
    fileprivate func isTarget(_ name: String) -> Bool {
        if case .byNameItem(name: name, condition: _) = self { true } else { false }
    }
}
