// swift-tools-version: 6.2

// The fuzzer and the engine, with edge coverage for libFuzzer and with the address sanitizer, which detects invalid memory
// accesses. Instrumenting the whole package would take many times as long. `.ci/instrumented` links this file next to
// links to `Sources` and `Tests`. The package is never built in this folder or by users.

import PackageDescription

let engine: [Target] = [
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4"),
    .target(name: "CFaultline"),
    .target(name: "FaultlineDisk", dependencies: ["CFaultline"]),
    .target(name: "FaultlineLog", dependencies: ["FaultlineDisk", "CFaultline", "CLZ4"]),
    .target(name: "FaultlineModel"),
    .target(name: "FaultlineStore", dependencies: ["FaultlineLog", "FaultlineModel", "FaultlineDisk", "CFaultline"]),
    .target(
        name: "FaultlineRepair", dependencies: ["FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineDisk"]),
    .target(
        name: "FaultlineObjects",
        dependencies: ["FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineDisk", "CFaultline"]),
    .target(
        name: "FaultlineMigration",
        dependencies: ["FaultlineObjects", "FaultlineStore", "FaultlineModel", "FaultlineLog", "FaultlineDisk"]),
    .target(name: "CFaultlineTestSupport", path: "Tests/Support/CFaultlineTestSupport"),
    .target(
        name: "FaultlineTestSupport", dependencies: ["FaultlineDisk", "CFaultline", "CFaultlineTestSupport"],
        path: "Tests/Support/FaultlineTestSupport"),
    .target(
        name: "CrashSimulation",
        dependencies: ["FaultlineRepair", "FaultlineLog", "FaultlineDisk", "FaultlineTestSupport"],
        path: "Tests/Proofs/CrashSimulation"),
    .target(
        name: "FuzzSimulation",
        dependencies: [
            "CrashSimulation", "FaultlineMigration", "FaultlineObjects", "FaultlineStore", "FaultlineModel",
            "FaultlineRepair", "FaultlineLog", "FaultlineDisk", "FaultlineTestSupport",
        ], path: "Tests/Proofs/FuzzSimulation"),
]

let package = Package(
    name: "Faultline",
    targets: engine + [
        .executableTarget(
            name: "Fuzzing", dependencies: ["FuzzSimulation", "FaultlineTestSupport"], path: "Tests/Proofs/Fuzzing")
    ],
    swiftLanguageModes: [.v6]
)

/// The modules that the fuzzer explores.
let explored: Set<String> = [
    "FaultlineDisk", "FaultlineLog", "FaultlineModel", "FaultlineStore", "FaultlineRepair", "FaultlineObjects",
    "FaultlineMigration",
]

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    let sanitizers = explored.contains(target.name) ? "fuzzer,address" : "address"
    target.swiftSettings? += [.unsafeFlags(["-sanitize=\(sanitizers)", "-parse-as-library"])]
    if target.name == "Fuzzing" { target.linkerSettings = [.unsafeFlags(["-sanitize=fuzzer,address"])] }
}
