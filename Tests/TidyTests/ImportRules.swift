/// Imports that each module may have. SwiftPM does not reject imports of indirect dependencies.
enum ImportRules {
    private static let core: Set<String> = ["Basics", "Wire", "Delivery", "Sessions", "Store"]

    /// The allowed imports of each module.
    static let allowed: [String: Set<String>] = [
        "Basics": ["Synchronization", "Glibc"],
        "XMLStream": ["CExpat"],
        "HTTP2Engine": ["Basics", "CNGHTTP2"],
        "Compression": ["Basics", "CZlib"],
        "Wire": ["Basics", "XMLStream", "HTTP2Engine", "Compression"],
        "Delivery": ["Basics"],
        "ClusterLog": ["Basics"],
        "Cluster": ["Basics", "ClusterLog", "Delivery", "NodeProtocol"],
        "Sessions": ["Basics", "Wire", "Compression", "Delivery"],
        "Store": ["Basics", "Delivery"],
        "RocksStore": ["Basics", "Delivery", "Store", "CRocksDB", "Glibc", "Synchronization"],
        "NodeProtocol": ["Basics", "Delivery", "Store"],
        "APNsGateway": ["Basics", "Wire", "Delivery"],
        "Webhooks": ["Basics", "Wire", "Delivery"],
        "Transport": ["Basics", "CLinux", "COpenSSL", "Glibc", "Synchronization"],
        "NodeLinks": ["Basics", "Transport", "Synchronization"],
        "Crypto": ["Basics", "COpenSSL"],
        "NATSClient": ["Basics", "Wire", "Transport", "Crypto", "ClusterLog"],
        "ClusterSetup": [
            "Basics", "Wire", "Transport", "NodeLinks", "NATSClient", "ClusterLog", "Client",
            "ClientProtocol",
        ],
        "Operator": ["Basics", "Wire"],
        // The dashboard and the alerts are printed with the JSON writer of Wire.
        "Catalogue": ["Basics", "Wire", "Operator", "CCommit"],
        "Server": core.union([
            "Compression", "RocksStore", "APNsGateway", "Transport", "Crypto", "Operator", "Catalogue",
            "Console",
            "CLinux",
            "COpenSSL",
            "CYAML",
            "Glibc",
            "Synchronization", "ClusterLog", "Cluster", "ClusterSetup", "NodeProtocol", "NodeLinks",
            "NATSClient", "Webhooks", "CCURL", "TestBench",
            // Only for the addresses of the test bench, and what its devices receive.
            "Client", "ClientProtocol",
        ]),
        "TestBench": [
            "Basics", "Wire", "ClientProtocol", "Client", "Transport", "Synchronization",
        ],
        "ClientProtocol": ["Basics", "Wire"],
        "Client": [
            "Basics", "Wire", "ClientProtocol", "Crypto", "Operator", "Transport", "Glibc", "Synchronization",
        ],
        "Simulation": core.union(["ClientProtocol"]),
        "ccsd": ["Server", "Catalogue", "Basics", "Glibc"],
        "ccsctl": [
            "Client", "ClientProtocol", "ClusterSetup", "NATSClient", "Operator", "Catalogue", "Basics",
            "Wire",
            "Transport", "Glibc",
        ],
        "ccs-device": [
            "Client", "ClientProtocol", "Catalogue", "Basics", "Wire", "Transport", "Glibc",
            "Synchronization",
        ],
        "ccs-bench": core.union([
            "Client", "ClientProtocol", "Simulation", "Operator", "Catalogue", "Transport", "HTTP2Engine",
            "Glibc", "Synchronization", "COpenSSL",
        ]),
        "ccs-fuzz": ["FuzzTargets", "Glibc"],
    ]

    /// Returns the imports of a product file that are not allowed.
    static func violations(_ file: SourceFile) -> [String] {
        guard let allowed = allowed[file.module] else {
            return ["\(file.path): \(file.module) is not in the table of imports"]
        }
        return imports(file).compactMap { name, line in
            allowed.contains(name) ? nil : "\(file.path):\(line): \(file.module) may not import \(name)"
        }
    }

    /// The folders below Tests whose targets are no tests: a release build compiles them too.
    static func released(_ manifest: SourceFile) -> [String] {
        manifest.text.split(separator: "path: \"Tests/").dropFirst().map {
            "Tests/" + $0.prefix { $0 != "\"" } + "/"
        }
    }

    /// Returns the testable imports in these folders: in a release build they are errors.
    static func testable(_ file: SourceFile, in folders: [String]) -> [String] {
        guard folders.contains(where: file.path.hasPrefix) else { return [] }
        return file.code.indices.filter { file.code[$0].hasPrefix("@testable") }.map {
            "\(file.path):\($0 + 1): a release build has no testable imports"
        }
    }

    /// Returns the modules that a file imports, with their lines.
    static func imports(_ file: SourceFile) -> [(name: String, line: Int)] {
        file.code.enumerated().compactMap { index, line in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "import"),
                words[..<place].allSatisfy({
                    $0.hasPrefix("@") || $0 == "private" || $0 == "internal" || $0 == "public"
                }),
                let name = words[(place + 1)...].first(where: {
                    !["struct", "class", "func", "enum", "protocol", "let", "var", "typealias"].contains($0)
                })
            else { return nil }
            return (String(name.prefix { $0 != "." }), index + 1)
        }
    }
}
