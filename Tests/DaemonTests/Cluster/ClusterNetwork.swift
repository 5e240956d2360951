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

    /// Makes the namespaces of N nodes.
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

    /// Drops all packets from and to a node.
    func cut(_ node: Int) throws { try Self.run(["ip", "link", "set", Self.link(node), "down"]) }

    /// Lets packets pass again.
    func heal(_ node: Int) throws { try Self.run(["ip", "link", "set", Self.link(node), "up"]) }
}
