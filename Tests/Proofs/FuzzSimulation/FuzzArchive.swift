/// Several files of a store in one sequence of bytes: the store's number, then for each file its index in the list of
/// names, its size u32, its bytes.
enum FuzzArchive {
    static func pack(_ store: Int, _ names: [String]) -> [UInt8] {
        let origin = FuzzStore.all[store]
        var bytes = [UInt8(store)]
        for (place, name) in origin.names.enumerated() where names.contains(name) {
            let file = origin.bytes(name)
            bytes.append(UInt8(place))
            withUnsafeBytes(of: UInt32(file.count).littleEndian) { bytes += $0 }
            bytes += file
        }
        return bytes
    }

    /// The store, and the replacements of its files; any bytes are valid.
    static func unpack(_ bytes: [UInt8]) -> (store: FuzzStore, files: [(name: String, bytes: [UInt8])]) {
        let store = FuzzStore.all[Int(bytes.first ?? 0) % FuzzStore.all.count]
        var files: [(name: String, bytes: [UInt8])] = []
        var place = 1
        while place + 5 <= bytes.count, files.count < 16 {
            let name = store.names[Int(bytes[place]) % store.names.count]
            let size = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place + 1, as: UInt32.self) }
            let start = place + 5
            let end = min(bytes.count, start + Int(size))
            files.removeAll { $0.name == name }
            files.append((name, Array(bytes[start..<end])))
            place = end
        }
        return (store, files)
    }
}
