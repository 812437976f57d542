import Glibc

/// The error of a benchmark that could not run, or read wrong values.
package struct BenchmarkError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable, Equatable {
        /// The command line is wrong: exit status 2.
        case usage
        /// A file or folder failed.
        case storage
        /// The workload read other values than expected.
        case wrongResult
    }

    package let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static func storage(_ path: String, _ action: String) -> BenchmarkError {
        BenchmarkError(.storage, "\(path): cannot \(action): \(String(cString: strerror(errno)))")
    }
}

/// Fails the workload unless the two are equal.
package func check<Value: Equatable>(_ what: String, _ found: Value, is expected: Value) throws(BenchmarkError) {
    guard found != expected else { return }
    throw BenchmarkError(.wrongResult, "\(what): found \(found), expected \(expected)")
}
