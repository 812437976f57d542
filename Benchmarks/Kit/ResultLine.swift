/// One workload's result: the fields of the JSON line, in its order; nil fields are omitted.
package struct ResultLine: Sendable {
    package var peer = "faultline"
    package var workload = ""
    package var n = 0
    package var operations = 0
    package var seconds = 0.0
    package var processorSeconds = 0.0
    package var peakResidentKiB = 0
    package var residentBeforeKiB = 0
    package var peakAnonymousKiB = 0
    package var anonymousBeforeKiB = 0
    package var diskByteCount = 0
    package var diskBeforeByteCount = 0
    package var peakDiskByteCount = 0
    package var settleSeconds = 0.0
    package var load = 0.0

    package var latencies: Latencies?
    package var rows: Int?
    package var bytes: Int?
    /// A sum of numbers; checks are made before it is printed.
    package var sum: Double?
    package var writtenByteCount: Int?
    package var blobBytesRead: Int?
    package var objectsRetained: Int?
    package var leastTenthPerSecond: Double?
    package var logByteCount: Int?

    package init() {}

    /// The line, without a line break.
    package var json: String {
        var fields: [String] = []
        func add(_ key: String, _ value: String) { fields.append("\"\(key)\":\(value)") }
        func add(_ key: String, _ value: Int?) { if let value { add(key, String(value)) } }
        func add(_ key: String, _ value: Double?, digits: Int) {
            if let value { add(key, Self.rounded(value, digits: digits)) }
        }

        add("peer", "\"\(peer)\"")
        add("workload", "\"\(workload)\"")
        add("n", n)
        add("ops", operations)
        add("seconds", seconds, digits: 6)
        add("cpu_seconds", processorSeconds, digits: 6)
        add("ops_per_s", seconds > 0 ? Double(operations) / seconds : 0, digits: 1)
        add("peak_rss_kb", peakResidentKiB)
        add("rss_before_kb", residentBeforeKiB)
        add("peak_anon_kb", peakAnonymousKiB)
        add("anon_before_kb", anonymousBeforeKiB)
        add("disk_bytes", diskByteCount)
        add("disk_before_bytes", diskBeforeByteCount)
        add("peak_disk_bytes", peakDiskByteCount)
        add("settle_seconds", settleSeconds, digits: 6)
        add("load1", load, digits: 2)
        add("p50_us", latencies?.microseconds(atShare: 0.5), digits: 3)
        add("p99_us", latencies?.microseconds(atShare: 0.99), digits: 3)
        add("max_us", latencies?.microseconds(atShare: 1), digits: 3)
        add("rows", rows)
        add("bytes", bytes)
        add("sum", sum, digits: 2)
        add("written_bytes", writtenByteCount)
        add("blob_bytes_read", blobBytesRead)
        add("objects_retained", objectsRetained)
        add("least_tenth_ops_per_s", leastTenthPerSecond, digits: 1)
        add("log_bytes", logByteCount)
        return "{" + fields.joined(separator: ",") + "}"
    }

    /// The number with that many decimal places, without an exponent; `null` for numbers without a JSON form.
    package static func rounded(_ value: Double, digits: Int) -> String {
        guard value.isFinite else { return "null" }
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = (value.magnitude * Double(scale)).rounded()
        guard scaled < 9e18 else { return "\(value)" }
        let number = Int(scaled)
        let fraction = String(number % scale)
        let sign = value < 0 && number > 0 ? "-" : ""
        guard digits > 0 else { return sign + String(number) }
        return sign + "\(number / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
