// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that users of the library do not build the server's dependencies.
let package = Package(
    name: "PhotoService",
    dependencies: [
        .package(name: "Faultline", path: "../..", traits: ["Service"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        // Bodies of requests and responses, and the routes, over any library of photos.
        .target(name: "PhotoAPI", dependencies: [.product(name: "Hummingbird", package: "hummingbird")]),
        // The library of photos in a store, and the program.
        .executableTarget(
            name: "PhotoService",
            dependencies: [
                "PhotoAPI", "Faultline",
                .product(name: "FaultlineService", package: "Faultline"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]),
        .testTarget(
            name: "PhotoServiceTests",
            dependencies: [
                "PhotoAPI", "PhotoService", "Faultline",
                .product(name: "FaultlineService", package: "Faultline"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    // A compiler plugin that is already built: `.ci/release` sets it, as for Faultline itself.
    if let plugin = Context.environment["FAULTLINE_PLUGIN"] {
        target.swiftSettings? += [.unsafeFlags(["-load-plugin-executable", "\(plugin)#FaultlineMacros"])]
    }
}
