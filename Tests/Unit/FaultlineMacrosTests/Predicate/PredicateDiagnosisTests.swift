import Testing

@Suite struct PredicateDiagnosisTests {
    private static let remedy = "Compare a property, or filter the fetched objects."

    @Test(arguments: [
        ("a.b(1)", "cannot call 'b(_:)' on a value of the object. \(remedy)", 24),
        ("a.b { $0 }", "cannot call 'b(_:)' on a value of the object. \(remedy)", 24),
        ("c.b(x: a)", "cannot call 'b(x:)' with a value of the object. \(remedy)", 24),
        ("abs(a.b)", "cannot call 'abs(_:)' with a value of the object. \(remedy)", 22),
        ("a.contains(where: b)", "cannot call 'contains(where:)' on a value of the object. \(remedy)", 24),
        ("a.b(_:)", "cannot refer to the method 'b(_:)'. \(remedy)", 24),
        ("[a.b] == c", "cannot make an array of values of the object. \(remedy)", 22),
        ("[1: a.b] == c", "cannot make a dictionary of values of the object. \(remedy)", 22),
        ("(a.b, 1) == c", "cannot make a tuple of values of the object. \(remedy)", 22),
        ("\"\\(a.b)\" == c", "cannot make a text with a value of the object. \(remedy)", 22),
        ("a << 1", "cannot apply the operator '<<' to a value of the object. \(remedy)", 24),
        ("~a", "cannot apply the operator '~' to a value of the object. \(remedy)", 22),
        ("a === b", "cannot compare identities. Use '=='.", 24),
        ("a = b", "cannot assign. Compare with '=='.", 24),
        ("try a.b", "cannot use 'try'. Compute the value in front of it.", 22),
        ("await b", "cannot use 'await'. Compute the value in front of it.", 22),
        ("a[1, 2]", "takes an index, a range, or a key with an optional default value in a subscript.", 24),
        ("let b = 1; return a == b", "takes one expression. Move this statement in front of it.", 22),
        ("for b in c {}", "takes an expression, not a statement. Write a condition.", 22),
        ("let b = 1", "takes an expression, not a declaration. Write a condition.", 22),
        ("switch a { default: true }", "cannot use 'switch'. Use 'if' or '?:'.", 22),
        ("if a { true }", "needs a branch 'else' with the value for other objects.", 22),
        ("if case .b = a { true } else { false }", "takes conditions and 'if let' in 'if'. Compare with '=='.", 25),
        ("if var b = a { b } else { false }", "takes 'if let' with a name.", 25),
        ("a.filter { b, c in b }", "takes a closure with one parameter here.", 31),
        ("a.filter { [b] c in b }", "needs no capture list. Remove it.", 33),
        (
            "b == nil || a.c == b!.d()",
            "computes this value when it is made, even where a condition in front excludes it. Unwrap it in front of the macro.",
            41
        ),
    ])
    func `each mistake is reported at its place`(condition: String, reason: String, column: Int) {
        let expansion = PredicateExpansion("#Predicate<A> { a in \(condition) }")
        #expect(expansion.diagnostics == ["\(column): error: #Predicate \(reason)"])
        #expect(expansion.text.isEmpty)
    }

    @Test func `a predicate without a closure is reported`() {
        #expect(
            PredicateExpansion("#Predicate<A>(b)").diagnostics
                == ["2: error: #Predicate needs its condition as a closure in braces."])
        #expect(PredicateExpansion("#Predicate<A> {}").diagnostics == ["15: error: #Predicate needs an expression."])
        #expect(
            PredicateExpansion("#Expression<A, B> { a in a.b(1) }").diagnostics
                == ["28: error: #Expression cannot call 'b(_:)' on a value of the object. \(Self.remedy)"])
    }

    @Test func `all mistakes are reported at once`() {
        #expect(PredicateExpansion("#Predicate<A> { a in a.b(1) && a.c(2) }").diagnostics.count == 2)
    }
}
