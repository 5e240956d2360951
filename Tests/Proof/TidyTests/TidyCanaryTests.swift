import Testing

/// Plants a violation of each rule and expects that it is found.
@Suite struct TidyCanaryTests {
    private func file(_ text: String, _ path: String = "Sources/Core/Delivery/Planted.swift") -> SourceFile {
        SourceFile(path: path, text: text)
    }

    private static let house = House(
        manifest: """
            func floor(_ name: String, _ targets: [Target]) -> [Target] { targets }
            let a = floor(
                "Foundation",
                [
                    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
                    module("Basics"), .target(name: "CLinux", exclude: overview, cSettings: hardenedC),
                    support("BasicsSupport", ["Basics"], in: "BasicsTests/Support"),
                    tests("Basics", ["Basics", "BasicsSupport"]),
                ])
            let b = floor("Core", [ module("Delivery", ["Basics"]), module("Compression", ["CZlib"])])
            """)

    @Test("canary: what needs a module of a floor above is found, and the picture has every floor")
    func floors() {
        #expect(Self.house.floors == ["Foundation", "Core"] && Self.house.climbing.isEmpty)
        #expect(
            Self.house.picture == "Core         Compression  Delivery\nFoundation   Basics  CLinux  CZlib")
        #expect(Self.house.released == ["Tests/Foundation/BasicsTests/Support/"])
        let climbing = House(
            manifest:
                "let a = floor(\"A\", [ module(\"B\", [\"D\", \"X\"])]) + floor(\"C\", [ module(\"D\")])")
        #expect(
            climbing.climbing == ["B (A) needs D (C), a floor above", "B needs X, which is on no floor"])
    }

    @Test("canary: a forbidden import is found in every spelling")
    func imports() {
        func violations(_ file: SourceFile) -> [String] { ImportRules.violations(file, in: Self.house) }
        for text in [
            "import Foundation\n", "public import Wire\n", "@testable import Server\n",
            "import struct Glibc.stat\n", "import Glibc.time\n",
        ] {
            #expect(violations(file(text)).count == 1, "\(text)")
        }
        for text in [
            "import Basics\n", "// import Foundation\n", "let text = \"import Foundation\"\n",
            "public import Basics\n",
        ] {
            #expect(violations(file(text)).isEmpty, "\(text)")
        }
        #expect(violations(file("import CZlib\n")).count == 1)
        #expect(violations(file("import CZlib\n", "Sources/Core/Compression/A.swift")).isEmpty)
        #expect(violations(file("import CZlib\n", "Sources/Foundation/Compression/A.swift")).count == 1)
        #expect(violations(file("\n", "Sources/Core/Unknown/A.swift")).count == 1)
        for (path, count) in [
            ("Tests/Proof/FuzzTests/Targets/A.swift", 1), ("Tests/Proof/FuzzTests/A.swift", 0),
        ] {
            let planted = file("import Basics\n\n@testable import Wire\n", path)
            #expect(ImportRules.testable(planted, in: ["Tests/Proof/FuzzTests/Targets/"]).count == count)
        }
    }

    @Test("canary: a long file and a long function are found, also with braces in strings")
    func lengths() {
        #expect(TextRules.length(file(String(repeating: "\n", count: 401))).count == 1)
        #expect(TextRules.length(file(String(repeating: "\n", count: 400))).isEmpty)
        let body = String(repeating: "    print(\"} // {\")\n", count: 69)
        #expect(CodeRules.longFunctions(file("func f(a: () -> Void = {}) -> Int {\n\(body)}\n")).count == 1)
        #expect(CodeRules.longFunctions(file("struct A {\n    init() {\n\(body)    }\n}\n")).count == 1)
        #expect(CodeRules.longFunctions(file("struct A {\n\(body)\(body)    func f() {}\n}\n")).isEmpty)
        #expect(
            CodeRules.longFunctions(file("protocol P {\n    func f()\n}\nenum E {\n\(body)\(body)}\n"))
                .isEmpty)
        #expect(CodeRules.longFunctions(file("func f() {\n\(String(body.dropLast(40)))}\n")).isEmpty)
    }

    @Test("canary: marks of unfinished work and paths are found, and words that contain them are not")
    func words() {
        for text in [
            "// TO" + "DO: later", "// FIX" + "ME", "let a = 1  // XX" + "X", "// good enough for " + "now",
            "\"/wo" + "rk/x\"",
        ] {
            #expect(TextRules.bannedWords(file(text + "\n")).count == 1, "\(text)")
        }
        #expect(TextRules.bannedWords(file("let a = \"/tmp/a-XX" + "XXXX\"\n")).isEmpty)
    }

    @Test("canary: tabs, trailing blanks, control characters and wrong ends of files are found")
    func blanks() {
        for text in ["\tlet a\n", "let a \n", "a\u{1B}\n", "a\r\n", "a\u{85}\n", "a", "a\n\n"] {
            #expect(TextRules.blanks(file(text)).count == 1, "\(text.debugDescription)")
        }
        #expect(TextRules.blanks(file("let é = 1\n")).isEmpty)
    }

    @Test("canary: every form of forcing is found, and similar code is not")
    func forcing() {
        let bang = "!"
        for text in [
            "a\(bang)\n", "a\(bang).b\n", "f()\(bang)\n", "a[0]\(bang)\n", "try\(bang) f()\n",
            "a as\(bang) B\n", "var a: Int\(bang)\n",
        ] {
            #expect(CodeRules.forcing(file(text)).count == 1, "\(text)")
        }
        for text in [
            "!a\n", "a != b\n", "a !== b\n", "if !f() {}\n", "\"a\(bang)\"\n", "// a\(bang)\n", "f(!a)\n",
        ] {
            #expect(CodeRules.forcing(file(text)).isEmpty, "\(text)")
        }
    }

    @Test("canary: @unchecked is found outside listed wrappers of C")
    func unchecked() {
        let text = "final class A: @unchecked Sendable {}\n"
        #expect(CodeRules.unchecked(file(text)).count == 1)
        #expect(CodeRules.unchecked(file(text, "Sources/Foundation/Transport/A.swift")).isEmpty)
        #expect(CodeRules.unchecked(file("// @unchecked Sendable\n")).isEmpty)
    }

    @Test("canary: unsafe code outside the list is found, and a listed file without any")
    func unsafe() {
        for text in [
            "let a = unsafe b\n", "nonisolated(unsafe) let a = b\n", "f(unsafe g())\n",
            "@unsafe struct A {}\n",
        ] {
            #expect(UnsafeRules.violations(file(text)).count == 1, "\(text)")
            #expect(UnsafeRules.violations(file(text, "Sources/Protocols/Wire/XML/Framer.swift")).count == 1)
            #expect(
                UnsafeRules.violations(file(text, "Sources/Protocols/Wire/XML/FastPathStanza.swift")).isEmpty)
            #expect(UnsafeRules.violations(file(text, "Sources/Protocols/HTTP2Engine/A.swift")).isEmpty)
        }
        for text in ["// unsafe\n", "let unsafeName = 1\n", "\"unsafe\"\n", "f(isUnsafe: true)\n"] {
            #expect(UnsafeRules.violations(file(text)).isEmpty, "\(text)")
        }
        let safe = file("let a = b\n", "Sources/Protocols/Wire/XML/FastPathStanza.swift")
        let used = file("let a = unsafe b\n", "Sources/Protocols/XMLStream/A.swift")
        let stale = UnsafeRules.stale(in: [safe, used])
        #expect(
            stale.contains("Wire/XML/FastPathStanza.swift") && !stale.contains("XMLStream/"))
    }

    @Test("canary: the access level package is found")
    func access() {
        for text in ["package func f() {}\n", "struct A {\n    @inlinable package let a = 1\n"] {
            #expect(CodeRules.access(file(text)).count == 1, "\(text)")
        }
        for text in [
            "public func f() {}\n", "if let package = a {\n", "package.name = 1\n", "// package func\n",
        ] {
            #expect(CodeRules.access(file(text)).isEmpty, "\(text)")
        }
    }

    @Test("canary: a time limit of a test is found")
    func timeLimits() {
        #expect(CodeRules.timeLimits(file("@Test(\"a\", .timeLimit(.minutes(1)))\n")).count == 1)
        #expect(CodeRules.timeLimits(file("let timeLimit = 3\n")).isEmpty)
    }

    @Test("canary: a public declaration without a comment is found")
    func comments() {
        func count(_ text: String) -> Int { CommentRules.violations(file(text), witnesses: ["asked"]).count }
        for text in [
            "public func f() {}\n", "// Does.\npublic struct A {}\n", "}\npublic var a = 1\n",
            "struct A {\n    public init(_ a: Int) {\n", "/// A.\n\npublic enum B {}\n",
        ] { #expect(count(text) == 1, "\(text)") }
        for text in [
            "/// Does.\n@inline(__always)\npublic func f() {}\n", "public import Basics\n",
            "public func asked() {}\n", "if let package = a {\n",
            "/// All.\npublic var a = 1\npublic var b = 2\n",
            "public extension A {\n", "struct A {\n    public let a = 1\n",
        ] { #expect(count(text) == 0, "\(text)") }
        let asked = CommentRules.witnesses([
            file("public protocol P {\n    /// Asked.\n    func wanted(a: Int)\n}\nfunc other() {}\n")
        ])
        #expect(asked.contains("wanted") && !asked.contains("other"))
    }

    @Test("canary: a limit without a reason and an unused one are found")
    func limits() {
        let limits = file(
            """
            public enum A {
            /// Why it is so.
            public static let used = 1
            public static let bare = 2
            }
            public enum B {
            /// Also a reason.
            public static let used = 3
            }

            """,
            "Sources/Foundation/Basics/Limits/Limits+A.swift")
        let user = file("f(Limits.A.used, \"\\(Limits.A.bare)\") // Limits.B.used\n")
        #expect(
            LimitRules.withoutReason(limits) == [
                "Sources/Foundation/Basics/Limits/Limits+A.swift: A.bare has no reason"
            ])
        #expect(
            LimitRules.unused(limits, used: LimitRules.used(in: [user])) == [
                "Sources/Foundation/Basics/Limits/Limits+A.swift: B.used is not used"
            ])
    }

    @Test("canary: a missing heading and a second one are found outside code")
    func headings() {
        #expect(TextRules.headings(file("text\n", "A.md")).count == 1)
        #expect(TextRules.headings(file("# A\n# B\n", "A.md")).count == 1)
        #expect(TextRules.headings(file("# A\n```\n# comment\n```\n## B\n", "A.md")).isEmpty)
    }

    @Test("canary: the scanner separates code from comments and strings, line by line")
    func scanner() {
        let text =
            "let a = \"x // \\(b(\")\")) }\" // c\nlet d = #\"\\(e) \" }\"# + \"\"\"\n  } \\(f)\n  \"\"\"\n/* } \n } */ g\n"
        #expect(
            SwiftCode.stripped(text) == [
                "let a = \"b(\"\")\" ", "let d = \"\" + \"", "f", "\"", "", " g", "",
            ])
        let prose = String(decoding: SwiftCode.parts(of: text).prose, as: UTF8.self)
        let lines = prose.split(separator: "\n", omittingEmptySubsequences: false)
        let words = lines.map { line in
            line.split(separator: "\u{1}").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        }
        #expect(words == [["x//", ")", "}", "c"], ["\\(e)\"}"], ["}"], [], ["}"], ["}"], []])
    }
}
