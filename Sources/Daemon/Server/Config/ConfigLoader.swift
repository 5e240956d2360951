import Basics
public import Catalogue
import Glibc
import Transport

/// Merges a configuration: flags override the environment, the environment the file, and the file the defaults.
///
/// It collects all mistakes before it fails. An empty, malformed or unreadable file is always an error: no mistake silently
/// leads to the defaults.
public struct ConfigLoader {
    private var configuration = Configuration()
    private var locations: [ConfigKey: ConfigProblem.Location] = [:]
    private var problems = ConfigProblems()

    private var faulty: Set<ConfigKey> = []
    private var isReadable = true

    private init() {}

    /// Loads a configuration; of the variables in `environment` those that begin with `CCSD_` are used.
    public static func load(
        file: String? = nil, environment: [(name: String, value: String)] = [],
        flags: [(key: ConfigKey, value: String)] = []
    ) throws(ConfigProblems) -> Configuration {
        let loaded = inspect(file: file, environment: environment, flags: flags)
        guard loaded.problems.list.isEmpty else { throw loaded.problems }
        return loaded.configuration
    }

    /// Loads as `load` does, and returns the valid values together with all mistakes.
    static func inspect(
        file: String? = nil, environment: [(name: String, value: String)] = [],
        flags: [(key: ConfigKey, value: String)] = []
    ) -> LoadedConfiguration {
        var loader = ConfigLoader()
        if let file { loader.apply(file: file) }
        for (name, value) in environment { loader.apply(variable: name, value) }
        for (key, value) in flags { loader.apply(key, value, at: .flag(key.flag)) }
        loader.checkTogether()
        return LoadedConfiguration(
            configuration: loader.configuration, locations: loader.locations, faulty: loader.faulty,
            problems: loader.problems, isReadable: loader.isReadable)
    }

    /// Reads the bytes of a file as `load` does, for the fuzzer and tests; `name` is the file name in messages.
    public static func load(bytes: [UInt8], name: String) throws(ConfigProblems) -> Configuration {
        var loader = ConfigLoader()
        loader.apply(bytes, file: name)
        loader.checkTogether()
        guard loader.problems.list.isEmpty else { throw loader.problems }
        return loader.configuration
    }

    // MARK: File

    private mutating func apply(file: String) {
        do throws(ConfigFileError) {
            apply(try ConfigFile.read(file), file: file)
        } catch {
            isReadable = false
            add("", error.problem, error.hint, at: .file(file, line: 0, column: 0))
        }
    }

    private mutating func apply(_ bytes: [UInt8], file: String) {
        let whole = ConfigProblem.Location.file(file, line: 1, column: 1)
        let root: YAMLNode?
        do throws(YAMLError) {
            root = try YAMLReader.read(bytes)
        } catch {
            let (line, column) = error.position(in: bytes)
            let location = ConfigProblem.Location.file(file, line: line, column: column)
            isReadable = false
            return add("", error.message, "keys and values look like  format: 1", at: location)
        }
        guard let root, !root.isNull else {
            isReadable = false
            return add("", "is empty", "write at least  format: 1", at: whole)
        }
        guard case .mapping(let pairs) = root.content else {
            isReadable = false
            let location = ConfigProblem.Location.file(file, line: root.line, column: root.column)
            return add(
                "", "is \(root.kind), not a table of keys", "keys and values look like  format: 1",
                at: location)
        }
        var seen: [String: Int] = [:]
        for (key, value) in pairs { apply(key, value, file, &seen) }
        if seen[ConfigKey.format.rawValue] == nil {
            add(
                ConfigKey.format.rawValue, "is missing",
                "add  format: 1  so that an upgrade does not change the meaning of the file", at: whole)
        }
    }

    private mutating func apply(
        _ key: YAMLNode, _ value: YAMLNode, _ file: String, _ seen: inout [String: Int]
    ) {
        let keyLocation = ConfigProblem.Location.file(file, line: key.line, column: key.column)
        guard case .scalar(let name, _) = key.content else {
            return add("", "\(key.kind) instead of a key", "write a key such as  format: 1", at: keyLocation)
        }
        if let line = seen[name] {
            return add(shown(name), "is a duplicate of line \(line)", "remove one of them", at: keyLocation)
        }
        seen[name] = key.line
        guard let known = ConfigKey(rawValue: name) else {
            return add(shown(name), "is not a known key", Self.nearest(name), at: keyLocation)
        }
        do throws(LocatedConfigMistake) {
            configuration[known] = try Self.value(of: known, value)
            locations[known] = .file(file, line: value.line, column: value.column)
        } catch {
            let location = ConfigProblem.Location.file(file, line: error.node.line, column: error.node.column)
            faulty.insert(known)
            add(name, error.mistake.problem, error.mistake.hint, at: location)
        }
    }

    /// A mistake with the value that has it.
    private struct LocatedConfigMistake: Error {
        var node: YAMLNode
        var mistake: ConfigMistake
    }

    private static func value(of key: ConfigKey, _ node: YAMLNode) throws(LocatedConfigMistake) -> ConfigValue
    {
        do throws(ConfigMistake) {
            if case .sequence(let items) = node.content, key.entry.type.isList {
                return .list(try texts(of: items, key))
            }
            return try scalar(of: key, node)
        } catch {
            guard case .sequence(let items) = node.content, key.entry.type.isList else {
                throw LocatedConfigMistake(node: node, mistake: error)
            }
            let wrong = items.first { (try? texts(of: [$0], key)) == nil }
            throw LocatedConfigMistake(node: wrong ?? node, mistake: error)
        }
    }

    private static func texts(of items: [YAMLNode], _ key: ConfigKey) throws(ConfigMistake) -> [String] {
        var texts: [String] = []
        for item in items {
            guard case .scalar(let text, _) = item.content else {
                throw ConfigMistake("contains \(item.kind)", hint: "write only names in the list")
            }
            _ = try key.value(of: [text])
            texts.append(text)
        }
        return texts
    }

    private static func scalar(of key: ConfigKey, _ node: YAMLNode) throws(ConfigMistake) -> ConfigValue {
        let write = "write \(key.entry.type.allowed)"
        guard !node.isNull else {
            throw ConfigMistake("has no value", hint: "\(write), or leave the line out")
        }
        guard case .scalar(let text, let isPlain) = node.content else {
            throw ConfigMistake("is \(node.kind), not one value", hint: write)
        }
        switch key.entry.type {
        case .hostNames, .networks, .origins:
            throw ConfigMistake("is one value, not a list", hint: "write [\(shown(text))]")
        case .integer, .port, .portOrOff, .boolean:
            guard isPlain else { throw ConfigMistake("is text in quotes", hint: "\(write), without quotes") }
        case .path, .address, .choice, .hostName, .endpoint: break
        }
        return try key.value(of: text)
    }

    // MARK: Environment and flags

    private mutating func apply(variable name: String, _ value: String) {
        guard name.hasPrefix("CCSD_"), name != "CCSD_CONFIG", !Self.isServiceLink(name, value) else { return }
        guard let key = ConfigKey.allCases.first(where: { $0.variable == name }) else {
            let near = NearestName.of(name, among: ConfigKey.allCases.map { $0.variable.lowercased() })
            let hint = near.map { "did you mean \($0.uppercased())?" } ?? "ccsctl config docs lists all keys"
            return add("", "is not a known setting", hint, at: .variable(name))
        }
        apply(key, value, at: .variable(name))
    }

    /// Whether Kubernetes has made a variable for a Service of the pod's namespace (`enableServiceLinks`) whose name begins with `ccsd`:
    /// `CCSD_SERVICE_HOST`, `CCSD_SERVICE_PORT_HTTPS`, `CCSD_PORT=tcp://...`, `CCSD_PORT_5235_TCP_ADDR`.
    private static func isServiceLink(_ name: String, _ value: String) -> Bool {
        let words = name.split(separator: "_")
        if name.hasSuffix("_SERVICE_HOST") || name.contains("_SERVICE_PORT") { return true }
        let protocols = ["tcp", "udp", "sctp"]
        if words.last == "PORT", protocols.contains(where: { value.hasPrefix($0 + "://") }) { return true }
        guard let port = words.firstIndex(of: "PORT"), words.count > port + 2 else { return false }
        return UInt16(words[port + 1]) != nil && protocols.contains(words[port + 2].lowercased())
    }

    private mutating func apply(_ key: ConfigKey, _ text: String, at location: ConfigProblem.Location) {
        do throws(ConfigMistake) {
            configuration[key] = try key.value(of: text)
            locations[key] = location
            faulty.remove(key)
        } catch {
            faulty.insert(key)
            add("", error.problem, error.hint, at: location)
        }
    }

    // MARK: Values that depend on each other

    private mutating func checkTogether() {
        for (key, text) in [
            (ConfigKey.listenAddress, configuration.listenAddress),
            (.adminAddress, configuration.adminAddress),
        ] where !Self.isAddress(text) {
            addTo(
                key, "\"\(shown(text))\" is not an address", "write an IPv4 or IPv6 address, not a name")
        }
        checkAdminAddress()
        checkTestClock()
        checkTestBench()
        for network in configuration.proxyProtocolFrom where AddressNetwork(network) == nil {
            addTo(
                .proxyProtocolFrom, "\"\(shown(network))\" is not an address or network",
                "write an IPv4 or IPv6 address, or a network like 10.0.0.0/8")
        }
        if (configuration.certificateFile == nil) != (configuration.keyFile == nil) {
            let (given, missing): (ConfigKey, ConfigKey) =
                configuration.keyFile == nil ? (.certificateFile, .keyFile) : (.keyFile, .certificateFile)
            addTo(given, "is given without \(missing.rawValue)", "give both, or neither")
        }
        checkPorts()
    }

    /// Checks that the admin port serves other machines only if that is set explicitly, and the operator API only with TLS.
    private mutating func checkAdminAddress() {
        guard let port = configuration.adminPort else {
            guard configuration.operatorAPI else { return }
            return addTo(
                .operatorAPI, "needs admin_port, which is off",
                "set admin_port, such as 9100, or operator_api: false")
        }
        guard let problem = configuration.adminReachProblem, !faulty.contains(.adminAddress),
            let address = SocketAddress(literal: configuration.adminAddress, port: UInt16(clamping: port)),
            !address.isLoopback
        else { return }
        addTo(
            .adminAddress,
            "\(shown(configuration.adminAddress)) is outside of loopback, \(problem.text)", problem.hint)
    }

    /// Checks that virtual devices, which connect without a PROXY header, are not taken for a proxy.
    private mutating func checkTestBench() {
        let own = Configuration.reachable(configuration.listenAddress)
        guard configuration.testBench, let address = SocketAddress(literal: own, port: 0),
            let network = configuration.proxyProtocolFrom.first(where: {
                AddressNetwork($0)?.contains(address) == true
            })
        else { return }
        addTo(
            .testBench,
            "virtual devices connect from \(own) without a PROXY header, but proxy_protocol_from has \(shown(network))",
            "set test_bench to false, or let the proxy connect from another address")
    }

    /// Checks that only this machine can reach a server whose time can be moved.
    private mutating func checkTestClock() {
        guard configuration.testClock else { return }
        let places: [(ConfigKey, String, Bool)] = [
            (.listenAddress, configuration.listenAddress, true),
            (.adminAddress, configuration.adminAddress, configuration.adminPort != nil),
        ]
        for (key, address, isUsed) in places where isUsed && !faulty.contains(key) {
            guard SocketAddress(literal: address, port: 0)?.isLoopback == false else { continue }
            addTo(
                .testClock, "needs all listeners on loopback, but \(key.rawValue) is \(shown(address))",
                "set \(key.rawValue) to 127.0.0.1, or test_clock to false")
        }
        if configuration.clusterDirectory != nil {
            addTo(
                .testClock, "cannot be used in a cluster, whose nodes must have the same time",
                "leave out test_clock, or cluster_directory")
        }
    }

    private static func isAddress(_ text: String) -> Bool {
        var address = in6_addr()
        return unsafe inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }

    private mutating func checkPorts() {
        var users: [Int: ConfigKey] = [:]
        let keys: [ConfigKey] = [
            .appServerPort, .appServerPreproductionPort, .devicePort, .httpsPort, .adminPort,
        ]
        for key in keys {
            guard case .integer(let port) = configuration[key], port != 0 else { continue }
            if let other = users[port] {
                let later = locations[key] == nil ? other : key
                addTo(
                    later, "\(port) is also \((later == key ? other : key).rawValue)", "use different ports"
                )
            }
            users[port] = key
        }
    }

    private mutating func addTo(_ key: ConfigKey, _ problem: String, _ hint: String) {
        faulty.insert(key)
        let location = locations[key] ?? .flag(key.flag)
        if case .file = location { return add(key.rawValue, problem, hint, at: location) }
        add("", problem, hint, at: location)
    }

    private mutating func add(
        _ key: String, _ problem: String, _ hint: String, at location: ConfigProblem.Location
    ) {
        problems.add(ConfigProblem(location: location, key: key, problem: problem, hint: hint))
    }

    private static func nearest(_ name: String) -> String {
        NearestName.of(name, among: ConfigKey.allCases.map(\.rawValue)).map { "did you mean \($0)?" }
            ?? "ccsctl config docs lists all keys"
    }
}

/// A configuration with its valid values and all of its mistakes.
struct LoadedConfiguration {
    /// The valid values, and the defaults of all other keys.
    var configuration: Configuration
    /// Where values were given.
    var locations: [ConfigKey: ConfigProblem.Location] = [:]
    /// Keys with invalid values.
    var faulty: Set<ConfigKey> = []
    var problems = ConfigProblems()
    /// Whether the file could be parsed as a table of keys.
    var isReadable = true
}

/// Untrusted text, made printable and cut to fit a line.
private func shown(_ text: String) -> String { Printable.text(text, limit: Limits.Config.shownCharacters) }
