import BenchmarkKit

/// All peers, by their names in results.
enum PeerList {
    struct Entry: Sendable {
        let name: String
        /// The folder of its stores: one for all settings of a peer, since these start from the same stores.
        let folder: String
        let settings: String
        let workloads: [Workload]
    }

    static let all: [Entry] =
        migratingEntries(GRDBPeer.self, and: PeerWorkloads<GRDBPeer>(durability: .usual).searching)
        + migratingEntries(SQLitePeer.self) + entries(RocksDBPeer.self)
        + entries(LMDBPeer.self)

    /// The peers that have indexes and tables that can be changed.
    private static func migratingEntries<P: MigratingPeer>(_ peer: P.Type, and more: [Workload] = []) -> [Entry] {
        let usual = PeerWorkloads<P>(durability: .usual)
        return entries(peer, and: usual.indexing + usual.migrating + more)
    }

    /// One entry, and another one for full durability if that is not usual.
    private static func entries<P: Peer>(_ peer: P.Type, and more: [Workload] = []) -> [Entry] {
        let usual = PeerWorkloads<P>(durability: .usual)
        let entry = Entry(name: usual.name, folder: P.name, settings: P.settings, workloads: usual.all + more)
        if P.syncsUsually { return [entry] }
        let full = PeerWorkloads<P>(durability: .full)
        let settings = "the same, but each commit is on the disk when it returns"
        return [entry, Entry(name: full.name, folder: P.name, settings: settings, workloads: full.all)]
    }
}
