/// Names of members that the standard library and Foundation have.
///
/// Extensions of this package use the same ones, so the name of such a member does not tell which is meant.
enum StandardNames {
    static let members: Set<String> = [
        "add", "all", "allSatisfy", "append", "base", "bytes", "cancel", "capacity", "close", "compare",
        "compactMap", "contains", "count", "data", "debugDescription", "decode", "delete", "description", "distance",
        "double", "dropFirst", "dropLast", "elements", "encode", "end", "endIndex", "enumerated", "filter", "finish",
        "first", "flatMap", "forEach", "formUnion", "hash", "hashValue", "id", "index", "indices", "initialize",
        "insert", "intersection", "inverse", "isEmpty", "isEqual", "isNumber", "isSubset", "joined", "key",
        "keys", "kind", "last", "length", "load", "lock", "lower", "lowercased", "lowerBound", "map", "max",
        "maximum", "min", "minimum", "move", "name", "next", "object", "offset", "popFirst", "popLast",
        "prefix", "rawValue", "read", "reduce", "remove", "removeAll", "removeFirst", "removeLast",
        "removeValue", "replace", "reserveCapacity", "reset", "result", "resume", "reverse", "reversed", "run", "runs",
        "setValue", "shuffle", "size", "sort", "sorted", "split", "start", "startIndex", "starts", "store", "string",
        "subtracting", "suffix", "sum", "swapAt", "text", "union", "unlock", "update", "upper", "upperBound", "url",
        "value", "values", "wait", "withLock", "wrapped", "write",
    ]
}
