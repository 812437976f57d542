// swift-tools-version: 6.2

import PackageDescription

// A separate package, so that users of the library do not build the peers.
let package = Package(
    name: "Compare",
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")
    ],
    targets: [
        // The system's RocksDB and LMDB, by their C interfaces.
        .systemLibrary(name: "CRocksDB", pkgConfig: "rocksdb", providers: [.apt(["librocksdb-dev"])]),
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        // The benchmarks' data and measuring: the folder of the package above, by a link.
        .target(name: "BenchmarkKit"),
        // The peers, and the workloads through each of them.
        .executableTarget(
            name: "PeerBenchmarks",
            dependencies: [
                "BenchmarkKit", "CRocksDB", "CLMDB",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
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
