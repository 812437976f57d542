// swift-tools-version: 6.2

// The engine and its tests alone, for builds that instrument every function: a build of all, compiler plugin included,
// would take many times as long. `.ci/instrumented` puts it beside links to `Sources` and `Tests`; it is never built
// where it lies, and no user's build meets it.

import PackageDescription

/// Coverage of every edge for libFuzzer, and the address sanitizer, which finds what reads beyond its memory.
let isFuzzing = Context.environment["FAULTLINE_FUZZING"] == "1"

let engine: [Target] = [
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4"),
    .target(name: "CFaultline"),
    .target(name: "FaultlineDisk", dependencies: ["CFaultline"]),
    .target(name: "FaultlineLog", dependencies: ["FaultlineDisk", "CFaultline", "CLZ4"]),
    .target(name: "FaultlineModel"),
    .target(name: "FaultlineStore", dependencies: ["FaultlineLog", "FaultlineModel", "FaultlineDisk", "CFaultline"]),
    .target(
        name: "FaultlineObjects",
        dependencies: ["FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineDisk", "CFaultline"]),
    .target(
        name: "FaultlineMigration",
        dependencies: ["FaultlineObjects", "FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineDisk"]),
    .target(name: "CFaultlineTestSupport", path: "Tests/CFaultlineTestSupport"),
    .target(
        name: "FaultlineTestSupport", dependencies: ["FaultlineDisk", "CFaultline", "CFaultlineTestSupport"],
        path: "Tests/FaultlineTestSupport"),
    .target(
        name: "CrashSimulation", dependencies: ["FaultlineLog", "FaultlineDisk", "FaultlineTestSupport"],
        path: "Tests/CrashSimulation"),
    .target(
        name: "FuzzSimulation",
        dependencies: [
            "CrashSimulation", "FaultlineMigration", "FaultlineObjects", "FaultlineStore", "FaultlineModel",
            "FaultlineLog", "FaultlineDisk", "FaultlineTestSupport",
        ], path: "Tests/FuzzSimulation"),
]

let package = Package(
    name: "Faultline",
    targets: engine
        + (isFuzzing
            ? [
                .executableTarget(
                    name: "Fuzzing", dependencies: ["FuzzSimulation", "FaultlineTestSupport"], path: "Tests/Fuzzing")
            ]
            : [
                .testTarget(
                    name: "FaultlineDiskTests",
                    dependencies: ["FaultlineDisk", "CFaultline", "FaultlineTestSupport"]),
                .testTarget(
                    name: "FaultlineLogTests",
                    dependencies: ["FaultlineLog", "FaultlineDisk", "FaultlineTestSupport", "CFaultline"]),
            ]),
    swiftLanguageModes: [.v6]
)

/// What the fuzzer is to explore.
let explored: Set<String> = [
    "FaultlineDisk", "FaultlineLog", "FaultlineModel", "FaultlineStore", "FaultlineObjects", "FaultlineMigration",
]

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    if isFuzzing {
        let sanitizers = explored.contains(target.name) ? "fuzzer,address" : "address"
        target.swiftSettings? += [.unsafeFlags(["-sanitize=\(sanitizers)", "-parse-as-library"])]
    }
    if target.name == "Fuzzing" { target.linkerSettings = [.unsafeFlags(["-sanitize=fuzzer,address"])] }
}
