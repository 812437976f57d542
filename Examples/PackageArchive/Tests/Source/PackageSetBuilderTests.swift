import PackageArchive
import Testing

@Suite struct PackageSetBuilderTests {
    static let bash = """
        Package: bash
        Essential: yes
        Status: install ok installed
        Priority: required
        Section: shells
        Installed-Size: 7164
        Maintainer: Matthias Klose <doko@debian.org>
        Architecture: amd64
        Multi-Arch: foreign
        Source: bash (5.2.15-2)
        Version: 5.2.15-2+b8
        Replaces: bash-completion (<< 20060301-0), bash-doc (<= 2.05-1)
        Depends: base-files (>= 2.1.12), debianutils (>= 5.6-0.1) | mksh:any
        Conffiles:
         /etc/bash.bashrc 89269e1298235f1b12b4c16e4065ad0d
         /etc/skel/.bashrc ee35a240758f374832e809ae0ea4883a
        Description: GNU Bourne Again SHell
         Bash is an sh-compatible command language interpreter that
         executes commands.
         .
          * It has lists.
        Homepage: http://tiswww.case.edu/php/chet/bash/bashtop.html

        """

    @Test func readsEveryFieldOfAStanza() throws {
        let set = try StanzaTexts(status: Self.bash).read()

        let package = try #require(set.packages.first)
        #expect(package.name == "bash")
        #expect(package.version == "5.2.15-2+b8")
        #expect(package.architecture == "amd64")
        #expect(package.section == "shells")
        #expect(package.priority == "required")
        #expect(package.maintainer == "Matthias Klose <doko@debian.org>")
        #expect(package.sourceName == "bash")
        #expect(package.sourceVersion == "5.2.15-2")
        #expect(package.installedByteCount == 7164 * 1024)
        #expect(package.downloadByteCount == nil)
        #expect(package.homepage == "http://tiswww.case.edu/php/chet/bash/bashtop.html")
        #expect(package.isInstalled)
        #expect(package.synopsis == "GNU Bourne Again SHell")
        #expect(
            package.details == """
                Bash is an sh-compatible command language interpreter that
                executes commands.

                 * It has lists.
                """
        )
        #expect(
            set.relationTexts(of: "bash") == [
                "Replaces 0.0 bash-completion << 20060301-0",
                "Replaces 1.0 bash-doc <= 2.05-1",
                "Depends 0.0 base-files >= 2.1.12",
                "Depends 1.0 debianutils >= 5.6-0.1",
                "Depends 1.1 mksh:any",
            ]
        )
        #expect(set.report.stanzaCount == 1)
        #expect(set.report.skipped.isEmpty)
    }

    @Test func takesTheOwnNameAndVersionForAMissingSource() throws {
        let set = try StanzaTexts(status: "Package: a\nVersion: 2\nArchitecture: all\n").read()

        #expect(set.packages.first?.sourceName == "a")
        #expect(set.packages.first?.sourceVersion == "2")
    }

    @Test func readsAListThatGoesOnInTheNextLines() throws {
        let text = "Package: a\nVersion: 1\nArchitecture: all\nProvides: x (= 1),\n y,\n\tz |\n w,\n"

        let set = try StanzaTexts(status: text).read()

        #expect(
            set.relationTexts(of: "a") == [
                "Provides 0.0 x = 1", "Provides 1.0 y", "Provides 2.0 z", "Provides 2.1 w",
            ]
        )
        #expect(set.report.brokenFieldCount == 0)
    }

    @Test(arguments: [1, 2, 3, 7, 64, 4096])
    func readsTheSameInPiecesOfAnySize(pieceByteCount: Int) throws {
        let text =
            Self.bash + "\n\n\n" + Self.bash.replacing("bash", with: "dash")
            + "\nPackage: last\nVersion: 1\nArchitecture: all"

        let whole = try StanzaTexts(status: text).read()
        let pieces = try StanzaTexts(status: text, pieceByteCount: pieceByteCount).read()

        #expect(whole.packages.map(\.name) == ["bash", "dash", "last"])
        #expect(pieces.packages == whole.packages)
        #expect(pieces.relations == whole.relations)
    }

    @Test func readsAStanzaThatIsLargerThanAPiece() throws {
        let line = " " + String(repeating: "x", count: 99) + "\n"
        let text =
            "Package: a\nVersion: 1\nArchitecture: all\nDescription: large\n" + String(repeating: line, count: 50_000)

        let set = try StanzaTexts(status: text + "\n" + Self.bash, pieceByteCount: 100_000).read()

        #expect(set.packages.map(\.name) == ["a", "bash"])
        #expect(set.packages.first?.details.utf8.count == 50_000 * 100 - 1)
    }

    @Test func readsLinesThatEndWithCarriageReturns() throws {
        let text = Self.bash + "\n" + Self.bash.replacing("bash", with: "dash")

        let plain = try StanzaTexts(status: text).read()
        let returned = try StanzaTexts(status: text.replacing("\n", with: "\r\n")).read()

        #expect(returned.packages == plain.packages)
        #expect(returned.relations == plain.relations)
        #expect(returned.report.brokenFieldCount == 0)
    }

    @Test func countsNamesAndSkipsBrokenStanzas() throws {
        let text = """
            Version: 1
            Architecture: all

            Package: two words
            Version: 1
            Architecture: all
            Depends: x

            Package: no-version
            Architecture: all

            Package: no-architecture
            Version: 1
            Depends: x, y

            just text


            Package: good
            Version: 1
            Architecture: all
            Depends: z

            """

        let set = try StanzaTexts(status: text).read()

        #expect(set.packages.map(\.name) == ["good"])
        #expect(set.relationTexts(of: "good") == ["Depends 0.0 z"])
        #expect(set.relations.count == 1)
        #expect(set.report.stanzaCount == 6)
        #expect(set.report.brokenStanzaCount == 5)
        let lines = set.report.skipped.filter { $0.reason.contains("the stanza") }.map(\.line)
        #expect(lines == [1, 4, 9, 12, 16])
        #expect(set.report.skipped.first?.description == "status:1: the stanza has no usable Package field")
    }

    @Test func countsNamesAndSkipsBrokenFields() throws {
        let text = """
            Package: a
            Version: 1
            Architecture: all
            # remark
            Installed-Size: many
            Size: 99999999999999999999
            Depends: b (>> 1) | (= 2), c (1), d [amd64], e, , f (= 1
            Status: installed
            Source: s (1
            Section: one
            Section: two
            """

        let set = try StanzaTexts(status: text).read()

        let package = try #require(set.packages.first)
        #expect(package.installedByteCount == nil)
        #expect(package.downloadByteCount == nil)
        #expect(package.section == "one")
        #expect(package.sourceName == "a")
        #expect(set.relationTexts(of: "a") == ["Depends 0.0 b >> 1", "Depends 3.0 e"])
        #expect(set.report.brokenStanzaCount == 0)
        #expect(set.report.brokenFieldCount == 11)
        #expect(set.report.skipped.map(\.line) == [4, 5, 6, 7, 7, 7, 7, 7, 8, 9, 11])
    }

    @Test func readsOldEncodingsAsLatin1AndSaysSo() throws {
        var text = Array("Package: a\nVersion: 1\nArchitecture: all\nMaintainer: J".utf8)
        text += [0xFC] + Array("rgen <j@example.org>\nDescription: caf".utf8) + [0xE9] + Array("\n".utf8)

        let set = try StanzaTexts(status: text).read()

        #expect(set.packages.first?.maintainer == "Jürgen <j@example.org>")
        #expect(set.packages.first?.synopsis == "café")
        #expect(set.report.brokenFieldCount == 2)
        #expect(set.report.skipped.map(\.line) == [4, 5])
    }

    @Test func keepsUnicodeAsItIs() throws {
        let set = try StanzaTexts(
            status: "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: Žužka Ωmega 🐧 <z@e>\n"
        ).read()

        #expect(set.packages.first?.maintainer == "Žužka Ωmega 🐧 <z@e>")
        #expect(set.report.brokenFieldCount == 0)
    }

    @Test func passesOverPackagesThatAreOnlyMentioned() throws {
        let text =
            "Package: a\nStatus: purge ok not-installed\nArchitecture: all\n\nPackage: b\nStatus: deinstall ok config-files\n"

        let set = try StanzaTexts(status: text).read()

        #expect(set.packages.isEmpty)
        #expect(set.report.emptyStanzaCount == 2)
        #expect(set.report.brokenStanzaCount == 0)
    }

    @Test func prefersTheStatusAndTakesTheSizeOfTheSameVersion() throws {
        let status = "Package: a\nStatus: install ok installed\nVersion: 1\nArchitecture: all\nDepends: b\n"
        let available = """
            Package: a
            Version: 2
            Architecture: all
            Size: 9
            Depends: c, d

            Package: a
            Version: 1
            Architecture: all
            Size: 7
            Depends: e

            """

        let set = try StanzaTexts(status: status, available: available).read()

        #expect(set.packages.count == 1)
        #expect(set.packages.first?.version == "1")
        #expect(set.packages.first?.isInstalled == true)
        #expect(set.packages.first?.downloadByteCount == 7)
        #expect(set.relations.map(\.targetName) == ["b"])
        #expect(set.report.supersededStanzaCount == 2)
    }

    @Test func keepsTheLatestOfSeveralAvailableVersions() throws {
        let versions = ["1.9", "1.10~rc1", "1.10", "1.2"]
        let text = versions.map {
            "Package: a\nVersion: \($0)\nArchitecture: all\nDepends: for-\($0.filter(\.isNumber))\n"
        }

        let set = try StanzaTexts(
            available: "Package: first\nVersion: 1\nArchitecture: all\nDepends: a\n\n" + text.joined(separator: "\n")
        ).read()

        #expect(set.packages.map(\.version) == ["1", "1.10"])
        #expect(set.relationTexts(of: "first") == ["Depends 0.0 a"])
        #expect(set.relationTexts(of: "a") == ["Depends 0.0 for-110"])
        #expect(set.relations.count == 2)
        #expect(set.packages.allSatisfy { !$0.isInstalled })
    }

    @Test func joinsTargetsOfTheOwnArchitectureAndKeepsDanglingNames() throws {
        let text = """
            Package: lib
            Version: 1
            Architecture: i386

            Package: lib
            Version: 1
            Architecture: amd64

            Package: app
            Version: 1
            Architecture: amd64
            Depends: lib, mail-transport-agent

            Package: script
            Version: 1
            Architecture: all
            Depends: lib

            """

        let set = try StanzaTexts(status: text).read()

        #expect(set.packages.count == 4)
        #expect(set.relations.map(\.target) == [1, -1, 0])
        #expect(set.relations.map(\.owner) == [2, 2, 3])
        #expect(set.danglingCount == 1)
        #expect(set.relations.first(where: \.isDangling)?.targetName == "mail-transport-agent")
    }

    /// For any bytes, reading ends, counts every stanza, and the set keeps its invariants.
    @Test(arguments: 0..<200)
    func survivesDamagedTexts(seed: UInt64) throws {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func draw(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(truncatingIfNeeded: state >> 33) % bound
        }
        var bytes = Array((Self.bash + "\n" + Self.bash.replacing("bash", with: "dash")).utf8)
        let signs = Array("\n\n:|,()<>=: \r\t\u{0}é~".utf8)
        for _ in 0..<(1 + draw(60)) {
            let place = draw(bytes.count)
            switch draw(3) {
            case 0: bytes[place] = UInt8(draw(256))
            case 1: bytes.insert(signs[draw(signs.count)], at: place)
            default: bytes.removeSubrange(place..<min(bytes.count, place + 1 + draw(9)))
            }
        }

        let set = try StanzaTexts(status: bytes).read()

        let report = set.report
        let gone = report.brokenStanzaCount + report.emptyStanzaCount + report.supersededStanzaCount
        #expect(set.packages.count + gone == report.stanzaCount, "seed \(seed)")
        #expect(set.packages.flatMap { Array($0.relations) } == Array(set.relations.indices), "seed \(seed)")
        for (place, package) in set.packages.enumerated() {
            #expect(set.relations[package.relations].allSatisfy { $0.owner == place }, "seed \(seed)")
            #expect(!package.name.isEmpty && !package.version.isEmpty && !package.architecture.isEmpty, "seed \(seed)")
        }
        #expect(set.places().count == set.packages.count, "seed \(seed)")
    }
}
