// swift-tools-version: 6.2

// The engine with its mutants and the tests that kill them. `make mutants` puts it beside a changed copy of
// `Sources/FaultlineLog` and links to the rest; it is never built where it lies, and no user's build meets it.

import PackageDescription

let package = Package(
    name: "Faultline",
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4"),
        .target(name: "CFaultline"),
        .target(name: "FaultlineDisk", dependencies: ["CFaultline"]),
        .target(name: "FaultlineLog", dependencies: ["FaultlineDisk", "CFaultline", "CLZ4"]),
        .target(name: "CFaultlineTestSupport", path: "Tests/CFaultlineTestSupport"),
        .target(
            name: "FaultlineTestSupport", dependencies: ["FaultlineDisk", "CFaultline", "CFaultlineTestSupport"],
            path: "Tests/FaultlineTestSupport"),
        .testTarget(
            name: "FaultlineLogTests",
            dependencies: ["FaultlineLog", "FaultlineDisk", "FaultlineTestSupport", "CFaultline"]),
        .target(
            name: "CrashSimulation", dependencies: ["FaultlineLog", "FaultlineDisk", "FaultlineTestSupport"],
            path: "Tests/CrashSimulation"),
        .executableTarget(name: "MutantProof", dependencies: ["CrashSimulation"], path: "Tests/MutantProof"),
        .testTarget(name: "CrashTests", dependencies: ["CrashSimulation", "FaultlineDisk"]),
        .target(
            name: "RotSimulation",
            dependencies: ["CrashSimulation", "FaultlineLog", "FaultlineDisk", "FaultlineTestSupport"],
            path: "Tests/RotSimulation"),
        .testTarget(name: "RotTests", dependencies: ["RotSimulation"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
