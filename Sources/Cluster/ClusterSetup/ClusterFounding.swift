public import Basics
import NodeLinks
public import Transport
import Wire

/// Founds a cluster: writes a folder for each node, and one for the authority.
public struct ClusterFounding: Sendable {
    /// The files of a node's folder.
    public enum Files {
        public static let cluster = "cluster.json"
        public static let certificate = "node.pem"
        public static let key = "node.key"
        public static let authority = "ca.pem"
        /// Only in the folder of the authority.
        public static let authorityKey = "ca.key"
    }

    /// The nodes in order of their numbers, from 1.
    public var nodes: [ClusterFile.Node]
    public var partitions: Int
    public var log: ClusterFile.LogServers

    /// Creates a founding; `addresses` has a `host:port` for each node.
    public init(addresses: [String], partitions: Int, log: ClusterFile.LogServers) {
        nodes = addresses.enumerated().map { index, address in
            let number = NodeNumber(UInt16(index + 1))
            return ClusterFile.Node(number: number, name: "node-\(number.number)", address: address)
        }
        self.partitions = partitions
        self.log = log
    }

    /// The folder of a node.
    public static func folder(of node: NodeNumber, in directory: String) -> String {
        "\(directory)/node-\(node.number)"
    }

    /// Returns a folder that exists and would have to be written. Returns `nil` if there is none.
    public func existingFolder(in directory: String) -> String? {
        let folders = nodes.map { Self.folder(of: $0.number, in: directory) } + ["\(directory)/authority"]
        return folders.first { SmallFile.stamp($0) != nil }
    }

    /// Writes the folders into a directory, which must not have any of them. Returns the file of the first node.
    ///
    /// `kept` are secrets of an earlier server, by their names: its tokens stay valid. The others are new.
    public func write(
        to directory: String, keeping kept: [String: Redacted<[UInt8]>] = [:], now: UnixMilliseconds
    ) throws(TransportError) -> ClusterFile {
        let cluster = ClusterID(max(1, SecureRandom.number()))
        var secrets: [String: Redacted<[UInt8]>] = [:]
        for name in ClusterFile.secretNames {
            secrets[name] = kept[name] ?? Redacted(SecureRandom.bytes(ClusterFile.secretBytes))
        }
        if let folder = existingFolder(in: directory) {
            throw TransportError("found a cluster", detail: "\(folder) exists", code: 0)
        }
        try SmallFile.makePrivateDirectory(directory)
        let authority = try ClusterAuthority(of: cluster, now: now)
        let pair = try authority.pair()
        try Self.write(pair, Files.authority, Files.authorityKey, to: "\(directory)/authority")
        var first: ClusterFile?
        for node in nodes {
            let file = ClusterFile(
                cluster: cluster, partitions: partitions, node: node.number, nodes: nodes,
                listen: Self.listenAddress(of: node), log: log, secrets: secrets)
            try Self.write(file, signedBy: authority, to: directory, now: now)
            first = first ?? file
        }
        guard let first else { throw TransportError("found a cluster", detail: "it has no nodes") }
        return first
    }

    /// Where a node listens for the others: at the port that they dial, and on no address of its own, which stands for that of clients
    /// (`ClusterFile.listenHost`).
    static func listenAddress(of node: ClusterFile.Node) -> String {
        "\(ClusterFile.anyHost):\(node.address.split(separator: ":").last ?? "0")"
    }

    /// Writes the folder of a node, with a new key and certificate.
    static func write(
        _ file: ClusterFile, signedBy authority: ClusterAuthority, to directory: String, now: UnixMilliseconds
    ) throws(TransportError) {
        let folder = folder(of: file.node, in: directory)
        let made = try authority.makeNode(named: NodeName.text(file.node, in: file.cluster), now: now)
        try write(made, Files.certificate, Files.key, to: folder)
        try SmallFile.replace("\(folder)/\(Files.authority)", with: authority.pair().chain, mode: 0o644)
        try SmallFile.replace(
            "\(folder)/\(Files.cluster)", with: Array((file.json.pretty + "\n").utf8), mode: 0o600)
    }

    private static func write(
        _ pair: ClusterAuthority.Pair, _ certificate: String, _ key: String, to folder: String
    ) throws(TransportError) {
        try SmallFile.makePrivateDirectory(folder)
        try SmallFile.replace("\(folder)/\(key)", with: pair.key.revealed, mode: 0o600)
        try SmallFile.replace("\(folder)/\(certificate)", with: pair.chain, mode: 0o644)
    }
}
