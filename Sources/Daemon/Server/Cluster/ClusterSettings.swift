import Basics
import Cluster
import ClusterLog
import ClusterSetup
import NATSClient
import NodeLinks
import Transport

/// What a daemon needs to be a node, from the folder that its configuration names.
struct ClusterSettings: Sendable {
    var file: ClusterFile
    var membership: Membership.Settings
    var identity: LinkIdentity
    var credentials: LinkCredentials
    var nats: NATSSettings
    var names: LogNames
    var stream: StreamSettings
    /// Where the daemon listens for clients.
    private let clientAddress: String
    /// What frames and heartbeats are authenticated with.
    private let secret: LogSecret
    let heartbeatSeal: HeartbeatSeal
    /// The monitoring ports of the servers of the log.
    var monitors: [NATSServerAddress]
    /// What is wrong with the certificate of the node, although it can be used: it expires soon.
    var certificateWarnings: [String]

    /// The subject of heartbeats.
    var heartbeatSubject: String { "\(names.prefix)-nodes.heartbeat" }

    /// What the frames of a partition are authenticated with.
    func logKey(of partition: Int) -> LogKey {
        LogKey(secret, cluster: file.cluster.number, partition: partition)
    }

    /// The address that other nodes connect to. Throws if `listen` is none.
    func listenAddress() throws(TransportError) -> SocketAddress {
        let (host, port) = file.listenHost(clients: clientAddress)
        guard let port = UInt16(port), let address = SocketAddress(literal: host, port: port) else {
            throw TransportError(
                "read the address", detail: "expected an IPv4 or IPv6 address and a port", code: 0)
        }
        return address
    }

    /// Reads the folder. `clientAddress` is where the daemon listens for clients.
    init(
        folder: String, software: String, clientAddress: String
    ) throws(ClusterSettingsProblem) {
        self.clientAddress = clientAddress
        let path = "\(folder)/\(ClusterFounding.Files.cluster)"
        let text = try Self.read(path)
        do throws(ClusterFileProblem) { file = try ClusterFile(parsing: text) } catch {
            throw ClusterSettingsProblem(file: path, problem: error.description)
        }
        guard let own = file.own else {
            throw ClusterSettingsProblem(file: path, problem: "node: it is not among nodes")
        }
        guard let bytes = file.secrets[ClusterFile.logSecretName]?.revealed else {
            throw ClusterSettingsProblem(
                file: path, problem: "secrets.\(ClusterFile.logSecretName): it is missing")
        }
        secret = LogSecret(bytes.raw)
        heartbeatSeal = HeartbeatSeal(secret, of: file.cluster)
        identity = LinkIdentity(
            cluster: file.cluster, node: file.node, incarnation: Incarnation(SecureRandom.number()))
        membership = Membership.Settings(
            cluster: file.cluster, node: file.node, incarnation: identity.incarnation, name: own.name,
            software: software, frameVersions: 1...FrameHeader.newestVersion, linkAddress: own.address,
            partitions: file.partitions, copies: min(2, file.nodes.count))
        stream = StreamSettings(replicas: file.log.replicas)
        do throws(ClusterFileProblem) {
            names = try file.log.names()
            monitors = try file.log.monitorAddresses()
            nats = try file.log.settings(name: "ccsd \(own.name)", of: own.address)
        } catch { throw ClusterSettingsProblem(file: path, problem: error.description) }
        let files = TLSFileNames(
            certificate: "\(folder)/\(ClusterFounding.Files.certificate)",
            key: "\(folder)/\(ClusterFounding.Files.key)")
        let (chain, key) = (try Self.read(files.certificate), try Self.read(files.key))
        certificateWarnings = try Self.check(chain, key, files, identity)
        credentials = LinkCredentials(
            authorityFile: "\(folder)/\(ClusterFounding.Files.authority)", chain: chain, key: Redacted(key))
    }

    /// Checks that the certificate is that of the node. Returns warnings.
    private static func check(
        _ chain: [UInt8], _ key: [UInt8], _ files: TLSFileNames, _ identity: LinkIdentity
    ) throws(ClusterSettingsProblem) -> [String] {
        let own: TLSIdentity
        do throws(TransportError) {
            own = try TLSIdentity(chain: chain, key: key, now: Now.read().wall, names: files)
        } catch { throw ClusterSettingsProblem(file: files.certificate, problem: error.description) }
        let name = NodeName.text(identity.node, in: identity.cluster)
        guard own.isValid(for: name) else {
            throw ClusterSettingsProblem(
                file: files.certificate,
                problem:
                    "it is not the certificate of \(name), which node and cluster in \(ClusterFounding.Files.cluster) name"
            )
        }
        return own.warnings
    }

    private static func read(_ path: String) throws(ClusterSettingsProblem) -> [UInt8] {
        do throws(TransportError) { return try SmallFile.read(path) } catch {
            throw ClusterSettingsProblem(file: path, problem: error.description)
        }
    }
}

/// Why a folder does not make a node.
struct ClusterSettingsProblem: Error {
    var file: String
    var problem: String

    var text: String { "cannot use \(file): \(problem)" }
}
