import Testing

/// The files that docs/architecture.md and the overviews refer to exist.
@Suite struct ReferenceTests {
    /// Returns the code spans of a text that have the form of a Swift file or folder: `Delivery/Partition`, `DeviceHub+Caps`.
    private static func names(in text: some StringProtocol) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            .filter { name in
                (name.first?.isUppercase == true || name.hasPrefix("ccs"))
                    && (name.contains("/") || name.contains("+"))
                    && name.allSatisfy { $0.isLetter || $0.isNumber || "/+.-".contains($0) }
            }
    }

    /// Returns the names in a text without a Swift file or folder in the product.
    private static func missing(in text: some StringProtocol) -> [String] {
        let paths = SourceTree.product.map { "/" + $0.path }
        return names(in: text).filter { name in
            let file = name.hasSuffix(".swift") ? "/" + name : "/" + name + ".swift"
            return !paths.contains { $0.hasSuffix(file) || $0.contains("/" + name + "/") }
        }
    }

    @Test("the files in the way of a message in docs/architecture.md exist")
    func way() throws {
        let text = try #require(SourceTree.read("docs/architecture.md"))
        let start = try #require(text.firstRange(of: "**The way of a message.**"))
        let way = text[start.lowerBound...].prefix(while: { $0 != "#" })
        #expect(Self.names(in: way).count >= 8)
        expectNone(Self.missing(in: way).map { "docs/architecture.md refers to \($0), which does not exist" })
    }

    @Test(
        "the files in docs/architecture.md exist, and a plain downstream message passes up to 12 of Sessions and Delivery"
    )
    func architecture() throws {
        let text = try #require(SourceTree.read("docs/architecture.md"))
        expectNone(
            Self.missing(in: text).map { "docs/architecture.md refers to \($0), which does not exist" })
        let start = try #require(text.firstRange(of: "## Downstream"))
        let section = text[start.upperBound...].split(separator: "\n## ").first ?? ""
        let steps = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(!steps.isEmpty && steps.count <= 12)
        expectNone(steps.filter { Self.names(in: $0).isEmpty }.map { "no file in: \($0)" })
    }

    @Test("the files in the overviews of modules exist")
    func overviews() {
        let overviews = SourceTree.files.filter { $0.path.hasSuffix("/Overview.md") }
        #expect(!overviews.isEmpty)
        for overview in overviews {
            #expect(!Self.names(in: overview.text).isEmpty)
            let missing = Self.missing(in: overview.text)
            expectNone(missing.map { "\(overview.path) refers to \($0), which does not exist" })
        }
    }

    private static func overview(of module: String) -> String? {
        SourceTree.files.first { $0.place == "\(module)/Overview.md" }?.text
    }

    /// Returns the missing parts of an overview: title, assumptions, starting point, and a length of a page.
    private static func missingParts(_ overview: String, of module: String) -> [String] {
        let lines = overview.split(separator: "\n", omittingEmptySubsequences: false)
        var missingParts: [String] = []
        if lines.first?.hasPrefix("# \(module): ") != true { missingParts.append("title with its purpose") }
        if !lines.contains("## Assumptions") { missingParts.append("section \"Assumptions\"") }
        if !overview.lowercased().contains("where to start") { missingParts.append("\"where to start\"") }
        if lines.count > 80 { missingParts.append("end within 80 lines") }
        return missingParts
    }

    @Test("a module has an overview of a page with purpose, assumptions and starting point")
    func everyModule() {
        let modules = SourceTree.house.modules.keys.sorted()
        #expect(modules.count > 30 && Set(modules).isSuperset(of: ["CExpat", "Delivery", "ccsd"]))
        for module in modules {
            let overview = Self.overview(of: module)
            let missingParts = overview.map { Self.missingParts($0, of: module) } ?? ["overview"]
            expectNone(missingParts.map { "\(module) has no \($0)" })
        }
    }

    /// Behaviours that span modules, with these modules.
    private static let behaviours: [(name: String, modules: [String])] = [
        (
            "A failed sync",
            ["Client", "Delivery", "RocksStore", "Server", "Sessions", "Simulation", "Store"]
        ),
        (
            "Expired messages",
            ["Basics", "Delivery", "RocksStore", "Server", "Sessions", "Simulation", "Store"]
        ),
        (
            "Replay after a login",
            [
                "Client", "ClientProtocol", "Delivery", "RocksStore", "Server", "Sessions", "Simulation",
                "Store",
            ]
        ),
        (
            "Caps of a mailbox",
            ["Basics", "ClientProtocol", "Delivery", "RocksStore", "Sessions", "Simulation", "Store"]
        ),
        (
            "Routing of an upstream message",
            ["ClientProtocol", "Delivery", "RocksStore", "Server", "Sessions", "Simulation", "Store"]
        ),
    ]

    /// Returns the modules whose overview has no line about a behaviour.
    private static func silent(_ behaviour: String, _ modules: [String], _ read: (String) -> String?)
        -> [String]
    {
        modules.filter { read($0)?.contains("- **\(behaviour)**") != true }
    }

    @Test("the overview of each module of a behaviour has a line about it")
    func behavioursAcross() {
        for (behaviour, modules) in Self.behaviours {
            let silent = Self.silent(behaviour, modules, Self.overview)
            expectNone(silent.map { "\($0)/Overview.md has no line **\(behaviour)**" })
        }
    }

    @Test("canary: a module without an overview and one without a part are found")
    func overviewCanary() {
        let good = "# A: does\n\n## Assumptions\n\n## Where to start\n"
        #expect(Self.missingParts(good, of: "A").isEmpty)
        #expect(Self.missingParts(good, of: "B").count == 1 && Self.missingParts("", of: "A").count == 3)
        #expect(Self.missingParts(good + String(repeating: "\n", count: 80), of: "A").count == 1)
        #expect(Self.silent("X", ["A", "B"]) { $0 == "A" ? "- **X**: y" : "" } == ["B"])
    }

    @Test("canary: a file that does not exist is found")
    func canary() {
        #expect(Self.missing(in: "see `Delivery/Dispatcher` and `DeviceHub+Caps`") == ["Delivery/Dispatcher"])
        #expect(Self.missing(in: "`ccs-device/Tool`, `ccs-device/Tol`") == ["ccs-device/Tol"])
    }
}
