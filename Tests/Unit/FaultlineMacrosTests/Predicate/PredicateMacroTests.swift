import Testing

@Suite struct PredicateMacroTests {
    /// The nodes of a condition on `a`, and the statements in front of them.
    private func body(_ condition: String) -> String {
        let expansion = PredicateExpansion("#Predicate<A> { a in \(condition) }")
        #expect(expansion.diagnostics.isEmpty)
        let head = "Predicate<A>({ a in"
        #expect(expansion.text.hasPrefix(head))
        return String(expansion.text.dropFirst(head.count + 1).dropLast(3))
    }

    @Test func `the type and the parameter stay as they are written`() {
        #expect(
            PredicateExpansion("#Predicate<A> { $0.b }").text
                == "Predicate<A>({ object0 in KeyPath(root: object0, keyPath: \\.b) })")
        #expect(
            PredicateExpansion("#Predicate { a in a.b }").text == "Predicate({ a in KeyPath(root: a, keyPath: \\.b) })")
        #expect(
            PredicateExpansion("#Predicate { (a: A) -> Bool in return a.b }").text
                == "Predicate({ a in KeyPath(root: a, keyPath: \\.b) })")
        #expect(PredicateExpansion("#Predicate<A>({ _ in true })").text == "Predicate<A>({ _ in Arg(true) })")
        #expect(
            PredicateExpansion("#Expression<A, Int> { a in a.b }").text
                == "Expression<A, Int>({ a in KeyPath(root: a, keyPath: \\.b) })")
        #expect(
            PredicateExpansion("#Predicate<A, B> { $0.c == $1.d }").text
                == "Predicate<A, B>({ object0, object1 in Equal(lhs: KeyPath(root: object0, keyPath: \\.c), rhs: KeyPath(root: object1, keyPath: \\.d)) })"
        )
    }

    @Test(arguments: [
        ("a.b == 1", "Equal(lhs: KeyPath(root: a, keyPath: \\.b), rhs: Arg(1))"),
        ("a.b != nil", "NotEqual(lhs: KeyPath(root: a, keyPath: \\.b), rhs: NilLiteral())"),
        ("a.b >= c", "Comparison(lhs: KeyPath(root: a, keyPath: \\.b), rhs: Arg(c), op: .greaterThanOrEqual)"),
        ("(a.b)", "KeyPath(root: a, keyPath: \\.b)"),
        ("a.b.c", "KeyPath(root: KeyPath(root: a, keyPath: \\.b), keyPath: \\.c)"),
        ("!a.b", "Negation(KeyPath(root: a, keyPath: \\.b))"),
        ("-a.b", "UnaryMinus(KeyPath(root: a, keyPath: \\.b))"),
        ("a.b + 1", "Arithmetic(lhs: KeyPath(root: a, keyPath: \\.b), rhs: Arg(1), op: .add)"),
        ("a.b / -3", "Division(lhs: KeyPath(root: a, keyPath: \\.b), rhs: Arg(-3))"),
        ("a.b ?? c", "NilCoalesce(lhs: KeyPath(root: a, keyPath: \\.b), rhs: Arg(c))"),
        ("a.b!", "ForcedUnwrap(KeyPath(root: a, keyPath: \\.b))"),
        ("(1...c).contains(a)", "contains(ClosedRange(lower: Arg(1), upper: Arg(c)), a)"),
        ("a.b[1]", "subscript(KeyPath(root: a, keyPath: \\.b), Arg(1))"),
        ("a.b[1, default: 2]", "subscript(KeyPath(root: a, keyPath: \\.b), Arg(1), default: Arg(2))"),
        ("a is B", "PredicateExpressions.TypeCheck<_, B>(a)"),
        ("a as? B", "PredicateExpressions.ConditionalCast<_, B>(a)"),
        ("a as! B", "PredicateExpressions.ForceCast<_, B>(a)"),
        ("a ? 1 : 2", "Conditional(a, Arg(1), Arg(2))"),
        ("a.b.min()", "min(KeyPath(root: a, keyPath: \\.b))"),
        ("a.hasPrefix(b)", "starts(a, with: Arg(b))"),
        ("a.contains { $0 }", "contains(a, where: { object0 in object0 })"),
        (
            "a.filter(\\.b.c)",
            "filter(a, { element0 in KeyPath(root: KeyPath(root: element0, keyPath: \\.b), keyPath: \\.c) })"
        ),
        ("b.c.evaluate(a)", "evaluate(b.c, a)"),
    ])
    func `forms and their nodes`(condition: String, nodes: String) {
        #expect(body(condition) == nodes)
    }

    @Test(arguments: [
        "b", "self.b", "b.c.d", "B.c", ".c", "b(1 + 2)", "b.c(d).e", "b?.c?.d()", "\"x\\(b)\"", "[1, b]", "-1.5",
        "b.map { a in a.c }", "b.map { $0.c }", "b.first { let a = $0; return a.c }", "\\B.a", "\"x\" + b", "b << 1",
    ])
    func `constants are computed as they are written`(constant: String) {
        #expect(body("a == \(constant)") == "Equal(lhs: a, rhs: Arg(\(constant)))")
    }

    @Test func `operators between constants are nodes`() {
        #expect(body("a == b + 1") == "Equal(lhs: a, rhs: Arithmetic(lhs: Arg(b), rhs: Arg(1), op: .add))")
        #expect(body("a == b!.c") == "Equal(lhs: a, rhs: KeyPath(root: ForcedUnwrap(Arg(b)), keyPath: \\.c))")
        #expect(body("a == b[0].c()") == "Equal(lhs: a, rhs: Arg(b[0].c()))")
        #expect(body("a == (b! == c)") == "Equal(lhs: a, rhs: Equal(lhs: ForcedUnwrap(Arg(b)), rhs: Arg(c)))")
    }

    @Test func `conditions between constants are constants`() {
        #expect(body("a == !b") == "Equal(lhs: a, rhs: Arg(!b))")
        #expect(body("a == (b == nil)") == "Equal(lhs: a, rhs: Arg(b == nil))")
        #expect(body("a == (b is C && d < 1)") == "Equal(lhs: a, rhs: Arg(b is C && d < 1))")
    }

    @Test func `optional chains`() {
        #expect(
            body("a.b?.c?.d == 1")
                == "Equal(lhs: flatMap(KeyPath(root: a, keyPath: \\.b)) { value0 in flatMap(KeyPath(root: value0, keyPath: \\.c)) { value1 in KeyPath(root: value1, keyPath: \\.d) } }, rhs: Arg(1))"
        )
        #expect(
            body("a.b?.contains(a.c) == true")
                == "Equal(lhs: flatMap(KeyPath(root: a, keyPath: \\.b)) { value0 in contains(value0, KeyPath(root: a, keyPath: \\.c)) }, rhs: Arg(true))"
        )
    }

    @Test func `each part of a condition is a statement`() {
        #expect(
            body("a.b == 1 && a.c && !(a.d < 2)")
                == " let condition0 = Equal(lhs: KeyPath(root: a, keyPath: \\.b), rhs: Arg(1)); let condition1 = Conjunction(lhs: condition0, rhs: KeyPath(root: a, keyPath: \\.c)); let condition2 = Comparison(lhs: KeyPath(root: a, keyPath: \\.d), rhs: Arg(2), op: .lessThan); let condition3 = Negation(condition2); return Conjunction(lhs: condition1, rhs: condition3);"
        )
    }

    @Test func `names of inner closures and branches`() {
        #expect(
            body("a.b.contains { c in c == a.d && a.e.allSatisfy { $0 == c } }")
                == "contains(KeyPath(root: a, keyPath: \\.b), where: { c in; let condition0 = Equal(lhs: c, rhs: KeyPath(root: a, keyPath: \\.d)); let condition1 = allSatisfy(KeyPath(root: a, keyPath: \\.e), { object0 in Equal(lhs: object0, rhs: c) }); return Conjunction(lhs: condition0, rhs: condition1); })"
        )
        #expect(
            body("if let b = a.b { b == c } else { false }")
                == "NilCoalesce(lhs: flatMap(KeyPath(root: a, keyPath: \\.b)) { b0 in Equal(lhs: b0, rhs: Arg(c)) }, rhs: Arg(false))"
        )
        #expect(
            body("if let b, a.c { b } else if a.d { 1 } else { 2 }")
                == "NilCoalesce(lhs: flatMap(Arg(b)) { b0 in Conditional(KeyPath(root: a, keyPath: \\.c), b0, Conditional(KeyPath(root: a, keyPath: \\.d), Arg(1), Arg(2))) }, rhs: Conditional(KeyPath(root: a, keyPath: \\.d), Arg(1), Arg(2)))"
        )
        #expect(
            body("if let b = a.b, a.c { b } else { [b] }")
                == " let otherwise0 = Arg([b]); return NilCoalesce(lhs: flatMap(KeyPath(root: a, keyPath: \\.b)) { b0 in Conditional(KeyPath(root: a, keyPath: \\.c), b0, otherwise0) }, rhs: otherwise0);"
        )
    }
}
