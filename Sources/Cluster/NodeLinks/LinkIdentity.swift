public import Basics

/// Who a node is towards the others.
public struct LinkIdentity: Hashable, Sendable {
    /// The cluster.
    public let cluster: ClusterID
    /// The node, and the process that runs it.
    public let node: NodeNumber
    public let incarnation: Incarnation

    /// Creates an identity.
    public init(cluster: ClusterID, node: NodeNumber, incarnation: Incarnation) {
        self.cluster = cluster
        self.node = node
        self.incarnation = incarnation
    }
}

/// The DNS names in the certificates of nodes: `node-3.0123456789abcdef.ccsd`.
public enum NodeName {
    /// Returns the name of a node.
    public static func text(_ node: NodeNumber, in cluster: ClusterID) -> String {
        "node-\(node.number)" + suffix(of: cluster)
    }

    /// The end of the names of all nodes of a cluster.
    static func suffix(of cluster: ClusterID) -> String { ".\(cluster.text).ccsd" }

    /// Returns the node of a name. Returns `nil` for any other text.
    static func node(_ text: String, in cluster: ClusterID) -> NodeNumber? {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard let label = parts.first, label.hasPrefix("node-"), let number = UInt16(label.dropFirst(5)),
            number > 0, text == self.text(NodeNumber(number), in: cluster)
        else { return nil }
        return NodeNumber(number)
    }
}
