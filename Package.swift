// swift-tools-version: 6.2
import PackageDescription

/// Flags of a debug build of whole modules. A build from nothing takes less of the processor when each module is one job of the compiler
/// (.ci/run); one after a change would compile whole modules again.
func whole(_ flags: String...) -> [SwiftSetting] {
    let isWhole = Context.environment["CCS_WHOLE_MODULES"] != nil
    return isWhole ? [.unsafeFlags(flags, .when(configuration: .debug))] : []
}

/// The rules that every target of ours is built by; a warning is an error, and an unsafe use must say so.
let strict: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableExperimentalFeature("Lifetimes"),
        .treatAllWarnings(as: .error),
    ]
    // With a number of threads each file has an object of its own, as the package manager expects in a debug build.
    + whole("-whole-module-optimization", "-disable-batch-mode", "-num-threads", "1")

/// Product code: strict memory safety, and in release no dynamic exclusivity checks (5 % of the CPU of a message).
///
/// What modules offer each other is `public`, never `package`: no product is a library, so no other package sees it, and the compiler
/// inlines and specialises across modules what is public only (a sixth of the CPU of a message).
let product: [SwiftSetting] =
    strict + [
        .strictMemorySafety(),
        .unsafeFlags(
            ["-enforce-exclusivity=unchecked", "-cross-module-optimization"], .when(configuration: .release)),
    ]

/// What simulations run for minutes is optimised in a build of whole modules, with all assertions: that saves more than it costs.
let simulated: Set = [
    "Basics", "Delivery", "Store", "Wire", "Sessions", "ClusterLog", "Cluster", "Simulation",
]

/// What each module begins with, for its readers.
let overview = ["Overview.md"]

/// The commit that the programs report; Scripts/package sets it.
let commit = Context.environment["CCS_COMMIT"].map { [CSetting.define("CCS_COMMIT", to: "\"\($0)\"")] } ?? []

/// Protections of C code against overwritten stacks, as Debian builds its packages.
let hardenedC: [CSetting] = [.unsafeFlags(["-fstack-protector-strong"])]

/// Protections of our programs: all addresses of libraries are resolved at the start, and are read-only from then on.
let hardenedLink: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"])
]

/// A module of ours.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, exclude: overview,
        swiftSettings: product + (simulated.contains(name) ? whole("-O", "-assert-config", "Debug") : []))
}

/// A program of ours.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, exclude: overview, swiftSettings: product,
        linkerSettings: hardenedLink)
}

/// The tests of one module.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies, exclude: exclude,
        // No module waits for the interface of a test module: made with its code and not before, it takes a sixth less of the processor.
        swiftSettings: strict + whole("-no-emit-module-separately-wmo"))
}

/// What tests of several modules share, in a folder of one of them.
func support(_ name: String, _ dependencies: [Target.Dependency], in folder: String) -> Target {
    .target(name: name, dependencies: dependencies, path: folder, swiftSettings: strict)
}

/// A floor of the house: its modules and their tests are in the folders of its name. A module imports modules of its own floor and of the
/// floors before it, never of those after it (Tests/Proof/TidyTests/ImportRules.swift).
func floor(_ name: String, _ targets: [Target]) -> [Target] {
    for target in targets {
        let top = target.type == .test || target.path != nil ? "Tests" : "Sources"
        target.path = "\(top)/\(name)/\(target.path ?? target.name)"
    }
    return targets
}

/// The system: doors to C, and what everything stands on.
let foundation = floor(
    "Foundation",
    [
        // Module maps and one-line shims, no logic.
        .target(name: "CLinux", exclude: overview, cSettings: hardenedC),
        .target(name: "CCommit", exclude: overview, cSettings: commit + hardenedC),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "CRocksDB", exclude: overview,
            cxxSettings: [.unsafeFlags(["-fno-rtti", "-fstack-protector-strong"])],
            linkerSettings: [.linkedLibrary("rocksdb")]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(
            name: "CCURL", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),

        module("Basics"),
        module("Crypto", ["Basics", "COpenSSL"]),
        module("Transport", ["Basics", "CLinux", "COpenSSL"]),

        support("BasicsSupport", ["Basics"], in: "BasicsTests/Support"),
        tests("Basics", ["Basics", "BasicsSupport", "COpenSSL"], exclude: ["Support"]),
        // The encryption that ccsd only undoes, also for the fuzzer.
        support("CryptoSupport", ["Crypto", "Basics", "COpenSSL"], in: "CryptoTests/Support"),
        tests(
            "Crypto", ["Crypto", "CryptoSupport", "Basics", "BasicsSupport", "Wire", "COpenSSL"],
            exclude: ["Support"]),
        tests("Transport", ["Transport", "Basics", "COpenSSL", "CLinux"]),
    ])

/// What decides, and what stores.
let core = floor(
    "Core",
    [
        module("Delivery", ["Basics"]),
        module("Store", ["Basics", "Delivery"]),
        module("RocksStore", ["Basics", "Delivery", "Store", "CRocksDB"]),
        module("History", ["Basics", "Delivery"]),
        tests("Delivery", ["Delivery", "Basics"]),
        tests("History", ["History", "Delivery", "Basics"]),
        // A store in memory, for the tests that need no disk.
        support("StoreSupport", ["Store", "Delivery", "Basics"], in: "StoreTests/Support"),
        tests(
            "Store",
            ["Store", "StoreSupport", "RocksStore", "Delivery", "Basics", "BasicsSupport", "CRocksDB"],
            exclude: ["Support"]),
    ])

/// Bytes to values of the core, and back.
let protocols = floor(
    "Protocols",
    [
        // Wrappers of C libraries, which decide nothing: Wire does.
        module("XMLStream", ["CExpat"]),
        module("HTTP2Engine", ["Basics", "CNGHTTP2"]),
        module("Compression", ["Basics", "CZlib"]),
        module("Wire", ["Basics", "XMLStream", "HTTP2Engine", "Compression"]),
        module("Sessions", ["Basics", "Wire", "Compression", "Delivery"]),
        module("ClientProtocol", ["Basics", "Wire"]),

        // The other end of an HTTP/2 connection, for the tests that send frames made by hand.
        support("HTTP2Peer", ["CNGHTTP2"], in: "WireTests/HTTP2Peer"),
        // Also for the fuzzer.
        support("WireSupport", ["Wire", "Basics"], in: "WireTests/Support"),
        tests(
            "Wire",
            ["Wire", "Basics", "Compression", "CLibXML2", "HTTP2Peer", "BasicsSupport", "WireSupport"],
            exclude: ["HTTP2Peer", "Support"]),
        tests(
            "Sessions",
            [
                "Sessions", "Reference", "Wire", "Compression", "Delivery", "Basics", "HTTP2Peer",
                "BasicsSupport", "WireSupport",
            ]),
    ])

/// Messages that leave by other servers.
let gateways = floor(
    "Gateways",
    [
        module("APNsGateway", ["Basics", "Wire", "Delivery"]),
        module("Webhooks", ["Basics", "Wire", "Delivery"]),

        tests(
            "APNsGateway",
            ["APNsGateway", "Delivery", "Store", "Transport", "Wire", "Basics", "BasicsSupport"]),
        tests(
            "Webhooks",
            ["Webhooks", "Delivery", "Store", "Transport", "Wire", "Basics", "BasicsSupport"]),
    ])

/// What operators, their tools and test suites use.
let operating = floor(
    "Operating",
    [
        module("Operator", ["Basics", "Wire"]),
        module("Catalogue", ["Basics", "Wire", "Operator", "CCommit"]),
        // The descriptions of the interfaces of devices and app servers.
        module("Reference", ["Basics", "Wire", "Sessions"]),
        // The files of the console, embedded.
        .target(name: "Console", exclude: overview + ["files"], cSettings: hardenedC),
        module("Client", ["Basics", "Wire", "ClientProtocol", "Crypto", "Operator", "Transport"]),
        module("TestBench", ["Basics", "Wire", "ClientProtocol", "Client", "Transport"]),

        tests("Operator", ["Operator", "Wire", "Basics", "WireSupport"]),
        tests("Catalogue", ["Catalogue", "Operator", "Basics"]),
        tests("Reference", ["Reference", "Sessions", "Wire", "Delivery", "Basics"]),
        // A server in place of ccsd, for clients.
        support("ClientSupport", ["Client", "Transport", "Wire", "Basics"], in: "ClientTests/Support"),
        tests(
            "Client",
            [
                "Client", "ClientProtocol", "ClientSupport", "Operator", "Crypto", "Transport", "Wire",
                "Basics", "BasicsSupport", "CryptoSupport", "WireSupport",
            ], exclude: ["Support"]),
        tests(
            "TestBench",
            [
                "TestBench", "Client", "ClientProtocol", "ClientSupport", "Transport", "Wire", "Basics",
                "BasicsSupport",
            ]),
    ])

/// Several nodes on a replicated log.
let cluster = floor(
    "Cluster",
    [
        module("ClusterLog", ["Basics"]),
        module("NodeProtocol", ["Basics", "Delivery", "History", "Store"]),
        module("Cluster", ["Basics", "ClusterLog", "Delivery", "History", "NodeProtocol"]),
        module("NodeLinks", ["Basics", "Transport"]),
        module("NATSClient", ["Basics", "Wire", "Transport", "Crypto", "ClusterLog"]),
        module(
            "ClusterSetup",
            [
                "Basics", "Wire", "Transport", "NodeLinks", "NATSClient", "ClusterLog", "Client",
                "ClientProtocol",
            ]),

        // A replicated log with faults.
        support("ClusterLogSupport", ["ClusterLog", "Basics"], in: "ClusterLogTests/Support"),
        tests(
            "ClusterLog", ["ClusterLog", "ClusterLogSupport", "Basics", "BasicsSupport"],
            exclude: ["Support"]),
        tests("NodeProtocol", ["NodeProtocol", "Store", "Delivery", "History", "Basics"]),
        tests(
            "Cluster",
            [
                "Cluster", "ClusterLog", "ClusterLogSupport", "Delivery", "History", "NodeProtocol", "Basics",
                "BasicsSupport",
            ]),
        tests("NodeLinks", ["NodeLinks", "Transport", "Basics"]),
        // A nats-server, for the tests that need a real one.
        support("NATSServerSupport", ["BasicsSupport"], in: "NATSClientTests/Support"),
        tests(
            "NATSClient",
            [
                "NATSClient", "NATSServerSupport", "ClusterLog", "ClusterLogSupport", "Transport", "Crypto",
                "Wire", "Basics",
            ],
            exclude: ["Support"]),
    ])

/// Sockets, threads, disk and clock around all of this.
let daemon = floor(
    "Daemon",
    [
        module(
            "Server",
            [
                "Basics", "Wire", "Compression", "Delivery", "Sessions", "Store", "RocksStore", "History",
                "Transport", "APNsGateway", "Crypto", "Operator", "Catalogue", "Reference", "Console",
                "CLinux", "COpenSSL", "CYAML", "ClusterLog", "Cluster", "ClusterSetup", "NodeProtocol",
                "NodeLinks", "NATSClient", "TestBench", "Client", "ClientProtocol", "Webhooks", "CCURL",
            ]),
        program("ccsd", ["Server", "Catalogue", "Basics"]),

        tests(
            "Server",
            [
                "Server", "RocksStore", "History", "APNsGateway", "Operator", "Catalogue", "Crypto", "Basics",
                "Wire", "Store", "Delivery", "Sessions", "Reference", "Transport", "BasicsSupport",
                "StoreSupport", "Cluster", "ClusterLog", "ClusterLogSupport", "ClusterSetup", "NATSClient",
                "NATSServerSupport",
            ]),
        // A load over the real store whose every write is recorded, cut off at any point and read again.
        .executableTarget(
            name: "ccs-power-cut",
            dependencies: [
                "RocksStore", "Server", "Store", "Delivery", "Basics", "BasicsSupport", "Transport",
            ],
            path: "DaemonTests/PowerCut", swiftSettings: strict),
        tests(
            "Daemon",
            [
                "ccsd", "ccsctl", "ccs-device", "ccs-bench", "ccs-power-cut", "Client", "ClientProtocol",
                "Wire", "Basics", "Transport", "Operator", "Catalogue", "TranscriptNotation", "WireSupport",
                "BasicsSupport", "NATSServerSupport", "ClusterLog", "ClusterSetup",
            ], exclude: ["Clients", "PowerCut", "Systemd"]),
    ])

/// Programs for operators and in place of devices.
let tools = floor(
    "Tools",
    [
        program(
            "ccsctl",
            [
                "Client", "ClientProtocol", "ClusterSetup", "NATSClient", "Operator", "Catalogue", "Basics",
                "Wire", "Transport",
            ]),
        program("ccs-device", ["Client", "ClientProtocol", "Catalogue", "Basics", "Wire", "Transport"]),

        tests(
            "ccsctl",
            [
                "ccsctl", "Client", "ClientProtocol", "Operator", "Catalogue", "Wire", "Basics",
                "BasicsSupport", "WireSupport",
            ]),
    ])

/// What shows that all of this is right, and how fast.
let proof = floor(
    "Proof",
    [
        module("Simulation", ["Basics", "Wire", "ClientProtocol", "Delivery", "Sessions", "Store"]),
        // What ccs-bench compares ccsd with: the least that a C program can do.
        .executableTarget(
            name: "ccs-relay", dependencies: ["COpenSSL", "CExpat"], exclude: overview),
        program(
            "ccs-bench",
            [
                "Client", "ClientProtocol", "Simulation", "Operator", "Catalogue", "Basics", "Wire",
                "Transport", "HTTP2Engine", "COpenSSL", "Delivery", "Sessions", "Store", "History",
            ]),

        tests("Simulation", ["Simulation", "Delivery", "Sessions", "Store", "Basics", "BasicsSupport"]),
        tests("ccs-bench", ["ccs-bench", "Basics", "Wire", "Compression"]),
        // How transcripts are written, for all that play them.
        support("TranscriptNotation", ["Basics", "BasicsSupport"], in: "TranscriptTests/Notation"),
        tests(
            "Transcript",
            [
                "TranscriptNotation", "Sessions", "Reference", "Wire", "Delivery", "Basics", "Crypto",
                "Transport", "BasicsSupport",
            ],
            exclude: ["Notation"]),
        // What the fuzzers try, for the fuzz program and for the tests that replay what it has found.
        support(
            "FuzzTargets",
            [
                "Wire", "Sessions", "Reference", "Delivery", "Store", "Server", "Catalogue", "Crypto",
                "Transport",
                "Basics", "CLibXML2", "Compression", "WireSupport", "BasicsSupport", "CryptoSupport",
                "APNsGateway", "Cluster", "ClusterLog", "NATSClient", "NodeLinks", "NodeProtocol",
            ], in: "FuzzTests/Targets"),
        tests("Fuzz", ["FuzzTargets", "Basics", "BasicsSupport"], exclude: ["Targets"]),
        tests("Tidy", ["Catalogue", "Operator", "Basics", "BasicsSupport"]),
    ])

let package = Package(
    name: "ccsd",
    targets: foundation + core + protocols + gateways + operating + cluster + daemon + tools + proof)

// libFuzzer brings its own main, so the fuzz program exists only when it is asked for (Scripts/fuzz).
if Context.environment["CCS_FUZZ"] != nil {
    package.targets += floor(
        "Proof",
        [
            .executableTarget(
                name: "ccs-fuzz", dependencies: ["FuzzTargets"], exclude: overview,
                swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
        ])
}

// What compares ccsd with other servers exists only when it is asked for (Scripts/nightly). It is compiled with the sources of ccs-bench,
// to which its folder has a link.
if Context.environment["CCS_COMPARE"] != nil, let bench = proof.first(where: { $0.name == "ccs-bench" }) {
    package.targets += floor(
        "Proof",
        [
            .executableTarget(
                name: "ccs-compare", dependencies: bench.dependencies, path: "ccs-compareTests/Program",
                exclude: ["bench/main.swift", "bench/Overview.md"], swiftSettings: product,
                linkerSettings: hardenedLink),
            tests("ccs-compare", ["ccs-compare", "Basics"], exclude: ["Program"]),
        ])
}

// A narrower package for a quick inner loop: CCS_TARGETS=Wire,Sessions builds those, what they need, and their tests.
if let names = Context.environment["CCS_TARGETS"] {
    var wanted: Set<String> = []
    func want(_ name: String) {
        guard wanted.insert(name).inserted,
            let target = package.targets.first(where: { $0.name == name })
        else { return }
        for case .byNameItem(let dependency, _) in target.dependencies { want(dependency) }
    }
    for name in names.split(separator: ",").map(String.init) {
        want(name)
        want("\(name)Tests")
    }
    package.targets.removeAll { !wanted.contains($0.name) }
}
