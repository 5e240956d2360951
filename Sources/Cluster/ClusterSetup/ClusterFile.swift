public import Basics
public import Wire

/// The cluster as a node sees it: `cluster.json` in the folder that `ccsctl cluster found` makes.
public struct ClusterFile: Sendable, Equatable {
    /// The replicated log: the servers of NATS, and how to log in there.
    public struct LogServers: Sendable, Equatable {
        /// Addresses, `host:port`.
        public var servers: [String]
        /// The monitoring ports of servers, `host:port`, which are asked whether the servers sync; none if that is left to the operator.
        public var monitors: [String]
        /// How many servers keep each log: 1, 3 or 5.
        public var replicas: Int
        /// What the names of streams and subjects begin with.
        public var prefix: String
        /// How to log in, and the file with the secret. `nil` where the server asks for nothing.
        public var login: Login?
        /// Whether the connection has TLS, and the PEM file of the authorities; an empty name stands for those of the system.
        public var authorities: String?

        /// Creates a description.
        public init(
            servers: [String], monitors: [String] = [], replicas: Int, prefix: String, login: Login? = nil,
            authorities: String? = nil
        ) {
            self.servers = servers
            self.monitors = monitors
            self.replicas = replicas
            self.prefix = prefix
            self.login = login
            self.authorities = authorities
        }

        /// A way to log in. The file is read at the start of the daemon.
        public enum Login: Sendable, Equatable {
            case password(user: String, file: String)
            case token(file: String)
            case key(file: String)
            case credentials(file: String)
        }
    }

    /// A node of the cluster.
    public struct Node: Sendable, Equatable {
        public var number: NodeNumber
        public var name: String
        /// Where other nodes reach it, `host:port`.
        public var address: String
    }

    /// The ID of the cluster.
    public var cluster: ClusterID
    public var partitions: Int
    /// The number of this node.
    public var node: NodeNumber
    /// All nodes that the cluster was founded with or that were added.
    public var nodes: [Node]
    /// The address and port that this node listens on for others; `anyHost` stands for the address of clients (`listenHost`).
    public var listen: String
    public var log: LogServers
    /// Secrets that all nodes share, by the name of the setting.
    public var secrets: [String: Redacted<[UInt8]>]

    public static func == (a: Self, b: Self) -> Bool { a.json == b.json }

    /// This node.
    public var own: Node? { nodes.first { $0.number == node } }
}

/// What is wrong with a `cluster.json`.
public struct ClusterFileProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The field, as `log.servers`; empty for the file as a whole.
    public var field: String
    /// The problem and what is expected.
    public var problem: String

    public var description: String { field.isEmpty ? problem : "\(field): \(problem)" }
}

extension ClusterFile {
    /// The names of the shared secrets that are settings of a store.
    public static let settingNames = ["token_secret", "scram_secret", "sealing_secret"]
    /// The secret of `LogSecret`.
    public static let logSecretName = "log_secret"
    /// The names of the shared secrets.
    public static let secretNames = settingNames + [logSecretName]
    /// The number of bytes of each secret.
    public static let secretBytes = 32
    static let format = 1

    /// The file as JSON.
    public var json: JSONValue {
        .object([
            .init("format", .integer(Self.format)), .init("cluster", .string(cluster.text)),
            .init("partitions", .integer(partitions)), .init("node", .integer(Int(node.number))),
            .init(
                "nodes",
                .array(
                    nodes.map {
                        .object([
                            .init("node", .integer(Int($0.number.number))), .init("name", .string($0.name)),
                            .init("address", .string($0.address)),
                        ])
                    })),
            .init("listen", .string(listen)), .init("log", log.json),
            .init(
                "secrets",
                .object(
                    Self.secretNames.map { .init($0, .string(Hex.text(secrets[$0]?.revealed ?? []))) })),
        ])
    }
}

extension ClusterFile.LogServers {
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("servers", .array(servers.map { .string($0) })), .init("replicas", .integer(replicas)),
            .init("prefix", .string(prefix)),
        ]
        if !monitors.isEmpty { members.append(.init("monitors", .array(monitors.map { .string($0) }))) }
        switch login {
        case nil: break
        case .password(let user, let file):
            members += [.init("user", .string(user)), .init("password_file", .string(file))]
        case .token(let file): members.append(.init("token_file", .string(file)))
        case .key(let file): members.append(.init("nkey_file", .string(file)))
        case .credentials(let file): members.append(.init("credentials_file", .string(file)))
        }
        if let authorities { members.append(.init("ca_file", .string(authorities))) }
        return .object(members)
    }
}
