import BenchmarkKit
import Foundation
import Testing

@Suite struct ResultLineTests {
    @Test func hasItsFieldsInOrder() throws {
        var line = ResultLine()
        line.workload = "w1"
        line.n = 1000
        line.operations = 1000
        line.seconds = 0.5
        #expect(
            line.json
                == #"{"peer":"faultline","workload":"w1","n":1000,"ops":1000,"seconds":0.500000,"cpu_seconds":0.000000,"#
                + #""ops_per_s":2000.0,"peak_rss_kb":0,"rss_before_kb":0,"peak_anon_kb":0,"anon_before_kb":0,"disk_bytes":0,"#
                + #""disk_before_bytes":0,"peak_disk_bytes":0,"settle_seconds":0.000000,"load1":0.00}"#
        )
    }

    @Test func addsWhatApplies() throws {
        var line = ResultLine()
        var latencies = Latencies(capacity: 2)
        latencies.record(1500)
        line.latencies = latencies
        line.rows = 1
        line.bytes = 2
        line.sum = 3
        line.writtenByteCount = 4
        line.blobBytesRead = 0
        line.objectsRetained = 6
        line.leastTenthPerSecond = 7
        line.logByteCount = 8

        let found = try JSONSerialization.jsonObject(with: Data(line.json.utf8)) as? [String: Any]

        let optional = [
            "p50_us", "p99_us", "max_us", "rows", "bytes", "sum", "written_bytes", "blob_bytes_read",
            "objects_retained",
            "least_tenth_ops_per_s", "log_bytes",
        ]
        #expect(optional.allSatisfy { found?[$0] != nil })
        #expect(found?.count == 16 + optional.count)
        #expect(found?["p50_us"] as? Double == 1.5)
    }

    @Test func roundsLikePeople() {
        #expect(ResultLine.rounded(1.5, digits: 0) == "2")
        #expect(ResultLine.rounded(-0.001, digits: 2) == "0.00")
        #expect(ResultLine.rounded(12.3456, digits: 3) == "12.346")
        #expect(ResultLine.rounded(.infinity, digits: 3) == "null")
    }
}

@Suite struct LatenciesTests {
    @Test func takesTheNearestRank() {
        var latencies = Latencies(capacity: 200)
        for duration in (1...200).reversed() { latencies.record(UInt64(duration) * 1000) }

        #expect(latencies.microseconds(atShare: 0.5) == 100)
        #expect(latencies.microseconds(atShare: 0.99) == 198)
        #expect(latencies.microseconds(atShare: 1) == 200)
        latencies.record(201_000)
        #expect(latencies.microseconds(atShare: 0.5) == 101)
        #expect(latencies.microseconds(atShare: 0.99) == 199)
        #expect(Latencies(capacity: 0).microseconds(atShare: 0.5) == nil)
    }
}

@Suite struct ArgumentsTests {
    @Test func readsEveryArgument() throws {
        let words = ["--workload", "w3", "--n", "100k", "--budget", "64", "--store", "/x", "--prepare"]

        let arguments = try Arguments(words)

        #expect(arguments.workload == "w3")
        #expect(arguments.n == 100_000)
        #expect(arguments.budgetMiB == 64)
        #expect(arguments.store == "/x")
        #expect(arguments.isPreparing)
    }

    @Test(arguments: [
        ["--workload", "w3"], ["--store", "/x"], ["--workload"], ["--workload", "--store"], ["--frobnicate"],
        ["--workload", "w", "--store", "s", "--n", "0"], ["--workload", "w", "--store", "s", "--n", "many"],
        ["--workload", "w", "--store", "s", "--n", "9223372036854775807M"],
    ])
    func refusesWhatItDoesNotUnderstand(words: [String]) {
        let error = #expect(throws: BenchmarkError.self) { try Arguments(words) }

        #expect(error?.code == .usage)
    }
}

@Suite struct ProcessFiguresTests {
    @Test func findsNumbersAfterTheirKeys() {
        let text = Array("VmPeak:\t  12 kB\nVmRSS:\t 345 kB\nnone: x".utf8)
        text.withUnsafeBytes { text in
            #expect(ProcessFigures.number(after: "VmRSS:", in: text) == 345)
            #expect(ProcessFigures.number(after: "none:", in: text) == nil)
            #expect(ProcessFigures.number(after: "VmHWM:", in: text) == nil)
        }
    }

    @Test func knowsThisProcess() {
        let memory = ProcessFigures.memory()

        #expect(memory.residentKiB > 1024)
        #expect(memory.peakKiB >= memory.residentKiB)
        #expect(memory.anonymousKiB > 0)
        #expect(memory.anonymousKiB < memory.residentKiB)
    }
}
