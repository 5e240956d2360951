import Basics
import Wire

extension ClusterFile {
    /// Reads a file strictly: an unknown field is an error, since it may be a misspelled one.
    public init(parsing text: [UInt8]) throws(ClusterFileProblem) {
        guard let json = try? JSONValue(parsing: text.raw, keepingRepeatedKeys: true), json.members != nil
        else {
            throw ClusterFileProblem(field: "", problem: "it is no JSON object")
        }
        var fields = FieldReader(json, "")
        let format = try fields.integer("format", 1...Int.max)
        guard format == Self.format else {
            throw ClusterFileProblem(
                field: "format", problem: "\(format) was written by a newer version: expected \(Self.format)")
        }
        let id = try fields.text("cluster", 16...16)
        guard id.utf8.allSatisfy({ Hex.value(of: $0) != nil }), let number = UInt64(id, radix: 16), number > 0
        else {
            throw ClusterFileProblem(field: "cluster", problem: "expected 16 hexadecimal digits, not all 0")
        }
        cluster = ClusterID(number)
        partitions = try fields.integer("partitions", 1...Limits.Cluster.partitions)
        node = NodeNumber(UInt16(try fields.integer("node", Self.nodeNumbers)))
        nodes = []
        for (index, element) in try fields.elements("nodes", 1...Limits.Cluster.nodes).enumerated() {
            var fields = FieldReader(element, "nodes[\(index)].")
            nodes.append(
                Node(
                    number: NodeNumber(UInt16(try fields.integer("node", Self.nodeNumbers))),
                    name: try fields.text("name", 1...Limits.Cluster.nameBytes),
                    address: try fields.address("address")))
            try fields.finish()
        }
        listen = try fields.address("listen")
        log = try LogServers(try fields.value("log"))
        secrets = [:]
        var given = FieldReader(try fields.value("secrets"), "secrets.")
        for name in Self.secretNames {
            let text = try given.text(name, 2 * Self.secretBytes...2 * Self.secretBytes)
            guard let bytes = Self.bytes(ofHex: text) else {
                throw ClusterFileProblem(field: "secrets.\(name)", problem: "expected hexadecimal digits")
            }
            secrets[name] = Redacted(bytes)
        }
        try given.finish()
        try fields.finish()
        guard Set(nodes.map(\.number)).count == nodes.count else {
            throw ClusterFileProblem(field: "nodes", problem: "two nodes have the same number")
        }
        guard Set(nodes.map(\.address)).count == nodes.count else {
            throw ClusterFileProblem(field: "nodes", problem: "two nodes have the same address")
        }
        guard own != nil else {
            throw ClusterFileProblem(field: "node", problem: "\(node.number) is not among nodes")
        }
    }

    /// Whether a text is a host or IP address and a port.
    public static func isAddress(_ text: String) -> Bool {
        guard text.utf8.count <= Limits.Cluster.addressBytes, let colon = text.lastIndex(of: ":") else {
            return false
        }
        let (host, port) = (text[..<colon], UInt16(text[text.index(after: colon)...]) ?? 0)
        return port > 0 && !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// The host in `listen` that stands for the address on which the daemon listens for clients.
    static let anyHost = "0.0.0.0"

    /// The address that this node listens on for others, and its port as text. `clients` is where the daemon listens for clients; on
    /// loopback no other machine would reach the node, so then it is every address, unless all nodes are on loopback.
    public func listenHost(clients: String) -> (host: String, port: String) {
        let colon = listen.lastIndex(of: ":") ?? listen.endIndex
        let (host, port) = (
            listen[..<colon].filter { $0 != "[" && $0 != "]" }, String(listen[colon...].dropFirst())
        )
        guard host == Self.anyHost else { return (host, port) }
        let isLocal = clients.hasPrefix("127.") || clients == "::1"
        let areAllLocal = nodes.allSatisfy { $0.address.hasPrefix("127.") || $0.address.hasPrefix("[::1]") }
        return (isLocal && !areAllLocal ? host : clients, port)
    }

    private static let nodeNumbers = 1...Int(UInt16.max)

    private static func bytes(ofHex text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Hex.value(of: $0) }
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension ClusterFile.LogServers {
    init(_ json: JSONValue) throws(ClusterFileProblem) {
        var fields = FieldReader(json, "log.")
        servers = try fields.texts("servers", 1...Limits.ClusterHost.logServers)
        monitors = try fields.optionalTexts("monitors", 1...Limits.ClusterHost.logServers)
        replicas = try fields.integer("replicas", 1...5)
        guard [1, 3, 5].contains(replicas) else {
            throw ClusterFileProblem(field: "log.replicas", problem: "\(replicas): expected 1, 3 or 5")
        }
        prefix = try fields.text("prefix", 1...32)
        var logins: [Login] = []
        if let user = try fields.optionalText("user") {
            logins.append(.password(user: user, file: try fields.text("password_file", 1...4_096)))
        }
        if let file = try fields.optionalText("token_file") { logins.append(.token(file: file)) }
        if let file = try fields.optionalText("nkey_file") { logins.append(.key(file: file)) }
        if let file = try fields.optionalText("credentials_file") { logins.append(.credentials(file: file)) }
        guard logins.count <= 1 else {
            throw ClusterFileProblem(
                field: "log", problem: "expected one of user, token_file, nkey_file and credentials_file")
        }
        login = logins.first
        authorities = try fields.optionalText("ca_file")
        try fields.finish()
    }
}

/// Reads the fields of a JSON object, each once.
private struct FieldReader {
    private let members: [JSONValue.Member]
    private let path: String
    private var known: Set<String> = []

    init(_ json: JSONValue, _ path: String) {
        members = json.members ?? []
        self.path = path
    }

    mutating func optional(_ name: String) throws(ClusterFileProblem) -> JSONValue? {
        known.insert(name)
        let found = members.filter { $0.key == name }
        guard found.count <= 1 else { throw problem(name, "it is given twice") }
        return found.first?.value
    }

    mutating func value(_ name: String) throws(ClusterFileProblem) -> JSONValue {
        guard let value = try optional(name) else { throw problem(name, "it is missing") }
        return value
    }

    mutating func integer(_ name: String, _ range: ClosedRange<Int>) throws(ClusterFileProblem) -> Int {
        guard let number = try value(name).integer, range.contains(number) else {
            throw problem(name, "expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func text(_ name: String, _ lengths: ClosedRange<Int>) throws(ClusterFileProblem) -> String {
        guard let text = try value(name).text, lengths.contains(text.utf8.count) else {
            throw problem(name, "expected a text of \(lengths.lowerBound) to \(lengths.upperBound) bytes")
        }
        return text
    }

    /// A host or IP address and a port.
    mutating func address(_ name: String) throws(ClusterFileProblem) -> String {
        let text = try text(name, 3...Limits.Cluster.addressBytes)
        guard ClusterFile.isAddress(text) else {
            throw problem(
                name,
                "\(Printable.text(text, limit: Limits.Cluster.addressBytes)): expected a host and a port, such as 10.0.0.1:5240"
            )
        }
        return text
    }

    mutating func optionalText(_ name: String) throws(ClusterFileProblem) -> String? {
        guard let value = try optional(name) else { return nil }
        guard let text = value.text else { throw problem(name, "expected a text") }
        return text
    }

    mutating func elements(
        _ name: String, _ counts: ClosedRange<Int>
    ) throws(ClusterFileProblem) -> [JSONValue] {
        guard let elements = try value(name).elements, counts.contains(elements.count) else {
            throw problem(name, "expected a list of \(counts.lowerBound) to \(counts.upperBound) elements")
        }
        return elements
    }

    /// Returns a list of texts.
    mutating func texts(_ name: String, _ counts: ClosedRange<Int>) throws(ClusterFileProblem) -> [String] {
        try texts(name, elements(name, counts))
    }

    /// Returns a list of texts, or none.
    mutating func optionalTexts(
        _ name: String, _ counts: ClosedRange<Int>
    ) throws(ClusterFileProblem) -> [String] {
        try optional(name) == nil ? [] : texts(name, counts)
    }

    private func texts(_ name: String, _ elements: [JSONValue]) throws(ClusterFileProblem) -> [String] {
        var texts: [String] = []
        for element in elements {
            guard let text = element.text else { throw problem(name, "expected texts, host:port") }
            texts.append(text)
        }
        return texts
    }

    /// Throws if the object has other fields.
    func finish() throws(ClusterFileProblem) {
        for member in members where !known.contains(member.key) {
            throw problem(Printable.text(member.key, limit: 64), "this field is unknown")
        }
    }

    private func problem(_ name: String, _ words: String) -> ClusterFileProblem {
        ClusterFileProblem(field: path + name, problem: words)
    }
}
