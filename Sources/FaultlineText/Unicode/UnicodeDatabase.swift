// Made by Fixtures/unicode/generate. Do not edit.

/// Properties of Unicode for words and folding, in base 64, as `ScalarTable` reads them.
///
/// Copyright (c) 1991-2022 Unicode, Inc. Fixtures/unicode/LICENSE has the terms of the data.
enum UnicodeDatabase {
    static let version = "15.0.0"
}
