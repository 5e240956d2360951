import Testing

/// The files that texts lead a reader to are there.
@Suite struct WayTests {
    /// What stands between backticks in a text and has the form of a Swift file or folder: `Delivery/Partition`, `DeviceHub+Caps`.
    private static func names(in text: some StringProtocol) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            .filter { name in
                (name.first?.isUppercase == true || name.hasPrefix("ccs"))
                    && (name.contains("/") || name.contains("+"))
                    && name.allSatisfy { $0.isLetter || $0.isNumber || "/+.-".contains($0) }
            }
    }

    /// Names that no Swift file or folder of the product ends with.
    private static func missing(in text: some StringProtocol) -> [String] {
        let paths = SourceTree.product.map(\.path)
        return names(in: text).filter { name in
            let file = name.hasSuffix(".swift") ? "/" + name : "/" + name + ".swift"
            return !paths.contains { $0.hasSuffix(file) || $0.contains("/" + name + "/") }
        }
    }

    @Test("the README's way of a message leads to files that are there")
    func readme() throws {
        let text = try #require(SourceTree.read("README.md"))
        let start = try #require(text.firstRange(of: "**The way of a message.**"))
        let way = text[start.lowerBound...].prefix(while: { $0 != "#" })
        #expect(Self.names(in: way).count >= 8)
        expectNone(Self.missing(in: way).map { "README.md leads to \($0), which is not there" })
    }

    @Test("the overviews of modules lead to files that are there")
    func overviews() {
        let overviews = SourceTree.files.filter { $0.path.hasSuffix("/Overview.md") }
        #expect(!overviews.isEmpty)
        for overview in overviews {
            #expect(!Self.names(in: overview.text).isEmpty)
            let missing = Self.missing(in: overview.text)
            expectNone(missing.map { "\(overview.path) leads to \($0), which is not there" })
        }
    }

    /// The modules: the folders of Sources that have code. What is only a door to a C library has none.
    private static func modules(_ paths: [String]) -> Set<String> {
        let code = paths.filter { path in
            path.hasPrefix("Sources/") && [".swift", ".c", ".cpp"].contains { path.hasSuffix($0) }
        }
        return Set(code.compactMap { $0.split(separator: "/").dropFirst().first.map(String.init) })
    }

    /// What an overview lacks: its title, what the module may assume, and where a reader starts. It is a page.
    private static func lacks(_ overview: String, of module: String) -> [String] {
        let lines = overview.split(separator: "\n", omittingEmptySubsequences: false)
        var lacks: [String] = []
        if lines.first?.hasPrefix("# \(module): ") != true { lacks.append("a title with its purpose") }
        if !lines.contains("## Assumptions") { lacks.append("what it may assume") }
        if !overview.lowercased().contains("where to start") { lacks.append("where to start") }
        if lines.count > 80 { lacks.append("an end within 80 lines") }
        return lacks
    }

    @Test("every module begins with an overview of a page: purpose, assumptions, where to start")
    func everyModule() {
        let modules = Self.modules(SourceTree.files.map(\.path))
        #expect(modules.count > 20)
        for module in modules.sorted() {
            let overview = SourceTree.read("Sources/\(module)/Overview.md")
            let lacks = overview.map { Self.lacks($0, of: module) } ?? ["an overview"]
            expectNone(lacks.map { "Sources/\(module) lacks \($0)" })
        }
    }

    /// Behaviours that span modules, with the modules that they pass.
    private static let behaviours: [(name: String, modules: [String])] = [
        ("A failed sync", ["Delivery", "RocksStore", "Server", "Sessions", "Simulation", "Store"]),
        ("Expired messages", ["Delivery", "RocksStore", "Server", "Simulation", "Store"]),
        (
            "Replay after a login",
            [
                "Client", "ClientProtocol", "Delivery", "RocksStore", "Server", "Sessions", "Simulation",
                "Store",
            ]
        ),
        ("Caps of a mailbox", ["Basics", "Delivery", "Sessions", "Simulation"]),
        (
            "Routing of an upstream message",
            ["ClientProtocol", "Delivery", "RocksStore", "Server", "Sessions", "Simulation", "Store"]
        ),
    ]

    /// The modules whose overviews have no line about a behaviour.
    private static func silent(_ behaviour: String, _ modules: [String], _ read: (String) -> String?)
        -> [String]
    {
        modules.filter { read("Sources/\($0)/Overview.md")?.contains("- **\(behaviour)**") != true }
    }

    @Test("behaviours that span modules have a line in the overview of each module that they pass")
    func behavioursAcross() {
        for (behaviour, modules) in Self.behaviours {
            let silent = Self.silent(behaviour, modules, SourceTree.read)
            expectNone(silent.map { "\($0)/Overview.md has no line **\(behaviour)**" })
        }
    }

    @Test("canary: a module without an overview, and one that lacks a part, are noticed")
    func overviewCanary() {
        #expect(
            Self.modules(["Sources/A/B.swift", "Sources/C/d.c", "Sources/D/shim.h", "Tests/E/F.swift"]) == [
                "A", "C",
            ])
        let good = "# A: does\n\n## Assumptions\n\n## Where to start\n"
        #expect(Self.lacks(good, of: "A").isEmpty)
        #expect(Self.lacks(good, of: "B").count == 1 && Self.lacks("", of: "A").count == 3)
        #expect(Self.lacks(good + String(repeating: "\n", count: 80), of: "A").count == 1)
        #expect(Self.silent("X", ["A", "B"]) { $0 == "Sources/A/Overview.md" ? "- **X**: y" : "" } == ["B"])
    }

    @Test("canary: a file that is gone is noticed")
    func canary() {
        #expect(Self.missing(in: "see `Delivery/Dispatcher` and `DeviceHub+Caps`") == ["Delivery/Dispatcher"])
        #expect(Self.missing(in: "`ccs-device/Tool`, `ccs-device/Tol`") == ["ccs-device/Tol"])
    }
}
