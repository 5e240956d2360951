import Foundation

/// A network namespace for each node, so that a node can be cut off from all others, its clients and the log.
///
/// The tests must run in a network namespace of their own, in which the nodes' links end (`CCS_CLUSTER_NETWORK`, set by
/// Scripts/cluster): the machine's network is not touched.
final class ClusterNetwork {
    /// Whether the tests may make namespaces.
    static let isAvailable = ProcessInfo.processInfo.environment["CCS_CLUSTER_NETWORK"] != nil

    /// The address of the servers of the log.
    static let logAddress = "10.77.0.1"
    /// The processes that keep the namespaces.
    private var holders: [ChildProcess] = []

    /// Makes a namespace for each node.
    init(nodes: Int) throws {
        try Self.run(["ip", "link", "set", "lo", "up"])
        try Self.run(["ip", "address", "replace", "\(Self.logAddress)/32", "dev", "lo"])
        try "1".write(toFile: "/proc/sys/net/ipv4/ip_forward", atomically: false, encoding: .utf8)
        for node in 0..<nodes { try add(node) }
    }

    deinit {
        for node in holders.indices { try? Self.run(["ip", "link", "delete", Self.link(node)]) }
        for holder in holders { holder.end() }
    }

    private func add(_ node: Int) throws {
        let holder = ChildProcess()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        holder.arguments = ["--net", "sleep", "infinity"]
        try holder.run()
        holders.append(holder)
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/net")
        let path = "/proc/\(holder.processIdentifier)/ns/net"
        try eventually("the namespace of node \(node + 1) exists") {
            try FileManager.default.destinationOfSymbolicLink(atPath: path) != own
        }
        let (link, outer) = (Self.link(node), "10.77.\(node + 1).1")
        try Self.run(
            ["ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns"]
                + ["\(holder.processIdentifier)"])
        try Self.run(["ip", "address", "add", "\(outer)/30", "dev", link])
        try Self.run(["ip", "link", "set", link, "up"])
        for words in [
            ["link", "set", "lo", "up"], ["address", "add", "\(address(node))/30", "dev", "eth0"],
            ["link", "set", "eth0", "up"], ["route", "add", "default", "via", outer],
        ] {
            try Self.run(launcher(node) + ["ip"] + words)
        }
    }

    private static func link(_ node: Int) -> String { "node\(node + 1)" }

    private static func run(_ words: [String]) throws {
        let result = try Tool.run(URL(fileURLWithPath: "/usr/bin/env"), words)
        guard result.code == 0 else { throw HarnessFailure("\(words.joined(separator: " ")): \(result)") }
    }

    /// The address of a node.
    func address(_ node: Int) -> String { "10.77.\(node + 1).2" }

    /// The command that runs a program in the namespace of a node.
    func launcher(_ node: Int) -> [String] {
        ["/usr/bin/nsenter", "--target", "\(holders[node].processIdentifier)", "--net"]
    }

    /// What is wrong with the network of a node.
    enum Trouble {
        /// All packets from and to it are dropped.
        case cut
        /// What it sends to others than its clients is dropped.
        case mute
        /// What is sent to it is dropped.
        case deaf
        /// Some of what is sent to it is dropped: a fifth of the packets, or what exceeds a small rate where the kernel has no netem.
        case loss
    }

    /// Breaks the network of a node.
    func begin(_ trouble: Trouble, _ node: Int) throws {
        let link = Self.link(node)
        switch trouble {
        case .cut: try Self.run(["ip", "link", "set", link, "down"])
        case .mute: try Self.run(launcher(node) + ["ip", "route", "replace", "blackhole", "default"])
        case .deaf: try Self.run(["ip", "route", "add", "blackhole", "\(address(node))/32"])
        case .loss:
            let add = ["tc", "qdisc", "add", "dev", link, "root"]
            do { try Self.run(add + ["netem", "loss", "20%"]) } catch {
                try Self.run(add + ["tbf", "rate", "400kbit", "burst", "6000", "limit", "3000"])
            }
        }
    }

    /// Mends the network of a node.
    func end(_ trouble: Trouble, _ node: Int) throws {
        let link = Self.link(node)
        switch trouble {
        case .cut: try Self.run(["ip", "link", "set", link, "up"])
        case .mute:
            try Self.run(
                launcher(node) + ["ip", "route", "replace", "default", "via", "10.77.\(node + 1).1"])
        case .deaf: try Self.run(["ip", "route", "del", "blackhole", "\(address(node))/32"])
        case .loss: try Self.run(["tc", "qdisc", "del", "dev", link, "root"])
        }
    }
}
