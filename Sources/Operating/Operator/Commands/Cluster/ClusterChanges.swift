public import Basics

/// Hands a partition over to another node.
public struct HandOverPartition: OperatorCommand {
    public var partition: Int
    /// The node that is to own it; `nil`: the one with the fewest partitions.
    public var target: NodeNumber?

    public static let summary = OperationSummary.changing(
        "cluster handover", "Hand a partition of this node over to another node.",
        details: [
            "Run it on the node that owns the partition: ccsctl cluster status shows which. Sessions of its devices and senders are closed, and connect again; nothing is lost.",
            "The cluster spreads partitions evenly: one that makes a node own two more than another is moved again soon.",
        ])
    public static let fields = Fields(
        HandOverPartition.init(partition:target:),
        .required(
            "partition", .integer(0...Limits.Cluster.partitions - 1), \.partition, audit: .partition,
            "The number of the partition."),
        .optional(
            "to", .node, \.target, audit: .node,
            "The node that is to own it. Default: the one with the fewest partitions."))

    /// The result of a handover.
    public struct Answer: Record {
        public var partition: Int
        public var source: NodeNumber
        public var owner: NodeNumber
        public var milliseconds: Int

        /// Creates an answer.
        public init(partition: Int, source: NodeNumber, owner: NodeNumber, milliseconds: Int) {
            self.partition = partition
            self.source = source
            self.owner = owner
            self.milliseconds = milliseconds
        }

        public static let fields = Fields(
            Answer.init(partition:source:owner:milliseconds:),
            .required("partition", .count, \.partition, "The number of the partition."),
            .required("from", .node, \.source, "The node that owned it."),
            .required("owner", .node, \.owner, "The node that owns it now."),
            .required("milliseconds", .count, \.milliseconds, "How long the handover took."))
    }
}

/// Removes a node that is gone for good.
public struct RemoveNode: OperatorCommand {
    public var node: NodeNumber

    public static let summary = OperationSummary.changing(
        "cluster remove", "Remove a node that is gone for good.",
        details: [
            "One node is enough: the others learn of it, and all of them keep it over restarts. The removed node no longer counts for the version of frames and for what may be purged from the log, is dialled no more, and is not in the status. If its ccsd starts after all, the others refuse it, with an alarm, until ccsctl cluster admit.",
            "A node that sends heartbeats is not removed: stop its ccsd first.",
        ])
    public static let fields = Fields(
        RemoveNode.init(node:),
        .required("node", .node, \.node, audit: .node, "The number of the node."))

    /// The result of a removal.
    public typealias Answer = ChangedNode
}

/// Admits a node again that was removed.
public struct AdmitNode: OperatorCommand {
    public var node: NodeNumber

    public static let summary = OperationSummary.changing(
        "cluster admit", "Admit a node again that was removed.",
        details: [
            "Run it on a node that was not removed: the others learn of it. A node that has been away for long may need records that were purged from the log, and is then to be started from a backup of a running node."
        ])
    public static let fields = Fields(
        AdmitNode.init(node:),
        .required("node", .node, \.node, audit: .node, "The number of the node."))

    /// The result of an admission.
    public typealias Answer = ChangedNode
}

/// A node that was removed or admitted again.
public struct ChangedNode: Record {
    public var node: NodeNumber
    public var name: String

    /// Creates an answer.
    public init(node: NodeNumber, name: String) {
        self.node = node
        self.name = name
    }

    public static let fields = Fields(
        ChangedNode.init(node:name:), .required("node", .node, \.node, "The number of the node."),
        .required("name", .text, \.name, "Its name."))
}
