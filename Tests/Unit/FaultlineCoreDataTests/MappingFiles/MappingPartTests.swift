import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Parts of files that are missing, contradict each other, or find no code.
struct MappingPartTests {
    // MARK: Archives

    /// The findings of an archived expression, and the expression.
    private func read(
        _ type: Int, _ fields: (inout ArchiveWriter) -> [(String, ListValue)]
    ) throws -> (names: [String], expression: MappingExpression?) {
        var writer = ArchiveWriter()
        let root = writer.object(["NSExpression"], [("NSExpressionType", .integer(type))] + fields(&writer))
        let property = writer.object(
            ["NSPropertyMapping"], [("NSDestinationPropertyName", writer.text("x")), ("NSValueExpression", root)])
        let mapping = writer.object(
            ["NSEntityMapping"],
            [
                ("NSMappingName", writer.text("M")), ("NSSourceEntityName", writer.text("A")),
                ("NSDestinationEntityName", writer.text("A")), ("NSAttributeMappings", writer.array([property])),
            ])
        let file = try MappingModelFile(compiled: writer.mappingModel([mapping]), name: "M")
        return (file.findings.map(\.name), file.mappings[0].attributes[0].expression)
    }

    @Test func `expressions with missing parts cannot be read`() throws {
        let names = [
            2: "a variable without a name", 3: "a path without names", 10: "a path without names",
            4: "a function without a name or a list of arguments", 13: "a subquery without a variable",
            14: "a list without members",
        ]
        for (type, name) in names {
            let (found, expression) = try read(type) { _ in [] }
            #expect(found == [name] && expression == .unreadable("<\(name)>"))
        }
        let (conditional, _) = try read(20) { _ in [] }
        #expect(conditional == ["a missing condition", "a missing part", "a missing part"])
        let (fetch, expression) = try read(50) { _ in [] }
        let missing = MappingExpression.unreadable("<a missing part>")
        #expect(fetch == ["a missing part", "a missing part"])
        #expect(expression == .fetch(missing, missing, countsOnly: false))
        #expect(try read(0) { _ in [] }.expression == .constant(nil))
    }

    @Test func `only one class has the functions of the format`() throws {
        func call(_ type: String) throws -> (names: [String], expression: MappingExpression?) {
            try read(4) { writer in
                let operand = writer.object(
                    ["NSExpression"],
                    [("NSExpressionType", .integer(0)), ("NSConstantValueClassName", writer.text(type))])
                return [
                    ("NSSelectorName", writer.text("now")), ("NSOperand", operand),
                    ("NSArguments", writer.array([])),
                ]
            }
        }
        let known = try call("_NSPredicateUtilities")
        #expect(known.names == [] && known.expression == .call("now", []))
        let other = try call("NSDate")
        #expect(other.names == ["NSDate"] && other.expression == .unreadable("<NSDate>"))
        let constant = try read(0) { writer in [("NSConstantValueClassName", writer.text("NSDate"))] }
        #expect(constant.names == ["a class"] && constant.expression == .unreadable("<a class>"))
    }

    @Test(arguments: [("a == 1", 0), ("a == 2", 1)]) func `two different conditions are reported`(
        condition: String, count: Int
    ) throws {
        let fetch = MappingExpression.fetch(
            .function(
                .variable("manager"), "fetchRequestForSourceEntityNamed:predicateString:",
                [.text("A"), .text("a == 1")]), .keyPath(.variable("manager"), "sourceContext"), countsOnly: false)
        let mapping = WrittenMapping(
            from: "A", to: "B", condition: condition,
            inside: "<attribute name=\"sourceexpressiondata\" type=\"binary\">\(MappingText.archive(fetch))</attribute>"
        )
        let file = try MappingModelFile(xml: MappingText.model([mapping]), name: "AB")
        #expect(file.findings.count == count && file.mappings[0].filter?.description == "a == 1")
    }

    // MARK: Values

    @Test func `nil for a required attribute, and two values for one, are refused`() throws {
        let company = try CompanyPackage(
            new: ModelText.attribute("x", "String", "defaultValueString=\"\"") + ModelText.attribute("y", "String"))
        let file = try MappedValues.file { mappings in
            mappings[0].properties += [
                .attribute("x", .constant(nil)), .attribute("y", .constant(nil)), .attribute("y", .text("y")),
            ]
        }
        let found = file.unexpressed(from: company.old, to: company.new)
        #expect(found.map(\.place) == ["EmployeeToEmployee.x", "EmployeeToEmployee.y"])
        #expect(found.first?.reason == "The attribute is required, and takes no nil.")
        #expect(found.last?.reason == "The mapping has two values for the attribute.")
    }

    @Test func `other variables are named`() throws {
        let company = try CompanyPackage(new: ModelText.attribute("x", "String"))
        for name in ["destination", "manager", "entityPolicy"] {
            let file = try MappedValues.file { $0[0].properties.append(.attribute("x", .variable(name))) }
            let found = file.unexpressed(from: company.old, to: company.new)
            #expect(found.count == 1 && found[0].reason.contains("$\(name)"), "\(found)")
        }
    }

    // MARK: Code

    @Test func `keys of functions have a policy with and without the module`() throws {
        let company = try CompanyPackage(new: ModelText.attribute("x", "String"))
        let call = MappingExpression.function(.variable("entityPolicy"), "convert:", [.source("name")])
        let function: MappingModelFile.Function = { arguments, _ in arguments[0] }
        func failure(_ policy: String, _ keys: String...) throws -> String? {
            let file = try MappedValues.file { mappings in
                mappings[0].policy = policy
                mappings[0].properties.append(.attribute("x", call))
            }
            do {
                _ = try file.mappingModel(
                    from: company.old, to: company.new, policies: [policy: SplitPhotoPolicy.self],
                    functions: Dictionary(uniqueKeysWithValues: keys.map { ($0, function) }))
                return nil
            } catch { return error.description }
        }
        for policy in ["Split", "App.Split"] {
            for key in ["convert:", "Split.convert:", "App.Split.convert:"] {
                #expect(try failure(policy, key) == nil, "\(policy) \(key)")
            }
        }
        #expect(try failure("App.Split", "Other.Split.convert:")?.contains("was not passed") == true)
        #expect(try failure("App.Split", "Other.Split.convert:", "App.Split.convert:") == nil)
        let several = try failure("Split", "Other.Split.convert:", "App.Split.convert:")
        #expect(several?.contains("App.Split.convert:, Other.Split.convert:") == true, "\(several ?? "none")")
    }

    // MARK: Choosing

    @Test func `a file fits only models that have all that it reads`() throws {
        let company = try CompanyPackage()
        let changes: [(inout [WrittenMapping]) -> Void] = [
            { $0[0].properties[0].expression = .source("nam") },
            { $0[0].properties[0].expression = .function(.source("boss.name"), "uppercaseString", []) },
            { $0[0].condition = "glow == 1" }, { $0 = [] },
        ]
        let whole = try MappedValues.file { _ in }
        #expect(whole.fits(from: company.old, to: company.new))
        for change in changes {
            #expect(try !MappedValues.file(change).fits(from: company.old, to: company.new))
        }
    }
}
