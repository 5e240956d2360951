public import Basics

extension ShowCluster.Answer {
    /// A node.
    public struct Member: Record {
        public var node: NodeNumber
        public var name: String
        public var status: MemberStatus
        /// Where other nodes reach it.
        public var address: String
        /// The version of its software; `nil` for a node without a heartbeat so far.
        public var software: String?
        /// The newest version of frames that it reads.
        public var frameVersion: Int?
        public var isDraining: Bool
        /// How many partitions it owns.
        public var owned: Int
        /// Whether there is a link to it; `nil` for the node itself.
        public var isLinked: Bool?
        public var roundTripMicroseconds: Int?
        /// How far its wall clock is ahead of this node's.
        public var clockMilliseconds: Int?
        /// The age of its last heartbeat.
        public var silentMilliseconds: Int?

        /// Creates a node.
        public init(
            node: NodeNumber, name: String, status: MemberStatus, address: String, software: String? = nil,
            frameVersion: Int? = nil, isDraining: Bool = false, owned: Int = 0, isLinked: Bool? = nil,
            roundTripMicroseconds: Int? = nil, clockMilliseconds: Int? = nil, silentMilliseconds: Int? = nil
        ) {
            self.node = node
            self.name = name
            self.status = status
            self.address = address
            self.software = software
            self.frameVersion = frameVersion
            self.isDraining = isDraining
            self.owned = owned
            self.isLinked = isLinked
            self.roundTripMicroseconds = roundTripMicroseconds
            self.clockMilliseconds = clockMilliseconds
            self.silentMilliseconds = silentMilliseconds
        }

        public static let fields = Fields(
            Member.init(
                node:name:status:address:software:frameVersion:isDraining:owned:isLinked:
                roundTripMicroseconds:clockMilliseconds:silentMilliseconds:),
            .required("node", .node, \.node, "The number."),
            .required("name", .text, \.name, "The name."),
            .required("status", .word, \.status, "Whether it is there, as a word."),
            .required("address", .text, \.address, "Where other nodes reach it."),
            .nullable(
                "software", .text, \.software, "The version of its software; null without a heartbeat so far."
            ),
            .nullable(
                "frame_version", .count, \.frameVersion, "The newest version of frames that it reads."),
            .required("draining", .boolean, \.isDraining, "Whether it gives its partitions to others."),
            .required("owned", .count, \.owned, "How many partitions it owns."),
            .nullable(
                "linked", .boolean, \.isLinked, "Whether there is a link to it; null for the node itself."),
            .nullable(
                "round_trip_microseconds", .count, \.roundTripMicroseconds,
                "The round trip of the link; null before the first."),
            .nullable(
                "clock_milliseconds", .whole, \.clockMilliseconds,
                "How far its clock is ahead of this node's, with the time that a heartbeat takes."),
            .nullable(
                "silent_milliseconds", .count, \.silentMilliseconds, "The age of its last heartbeat."))
    }

    /// A partition.
    public struct Partition: Record {
        public var partition: Int
        /// The node that owns it; `nil` while it is unknown.
        public var owner: NodeNumber?
        public var epoch: Int
        /// What the node that is asked is to it.
        public var role: PartitionRole
        /// The position of the last record that its store has.
        public var applied: Int
        /// The position up to which its store needs no log after a power cut.
        public var durable: Int
        /// Records of the log that its store has not.
        public var behind: Int
        /// Frames that it has appended and that are not confirmed.
        public var unconfirmed: Int
        /// Records that it has skipped, as all nodes do.
        public var voids: Int

        /// Creates a partition.
        public init(
            partition: Int, owner: NodeNumber?, epoch: Int, role: PartitionRole, applied: Int, durable: Int,
            behind: Int, unconfirmed: Int, voids: Int
        ) {
            self.partition = partition
            self.owner = owner
            self.epoch = epoch
            self.role = role
            self.applied = applied
            self.durable = durable
            self.behind = behind
            self.unconfirmed = unconfirmed
            self.voids = voids
        }

        public static let fields = Fields(
            Partition.init(partition:owner:epoch:role:applied:durable:behind:unconfirmed:voids:),
            .required("partition", .count, \.partition, "The number."),
            .nullable("owner", .node, \.owner, "The node that owns it; null while it is unknown."),
            .required("epoch", .count, \.epoch, "The number of terms of ownership so far."),
            .required("role", .word, \.role, "What the node that was asked is to it."),
            .required(
                "applied", .count, \.applied, "The position in the log of the last record that its store has."
            ),
            .required(
                "durable", .count, \.durable,
                "The position up to which its store needs no log after a power cut."),
            .required("behind", .count, \.behind, "Records of the log that its store does not have yet."),
            .required(
                "unconfirmed", .count, \.unconfirmed,
                "Frames that it has appended and that are not confirmed."),
            .required(
                "voids", .count, \.voids,
                "Records that it has skipped since the start: late copies, and frames of earlier owners."))
    }
}
