extension Limits {
    /// Limits of the replicated log of a cluster.
    public enum ClusterLog {
        /// Unconfirmed frames of one partition: more gained no rate in the measurements, and all are sent again after a doubt.
        public static let unconfirmedFrames = 16
        /// Bytes of one frame: the default limit of a message in NATS.
        public static let frameBytes = 1_048_576
        /// Milliseconds that an owner waits for the answer to a frame or a read: ten times the slowest usual sync.
        public static let answerMilliseconds: Int64 = 500
        /// Milliseconds that it waits at most once frames were sent again: an election takes 4 to 9 s, and each repetition stays in
        /// the log.
        public static let longestAnswerMilliseconds: Int64 = 4_000
        /// Milliseconds for which a confirmation lets the owner decide, counted from its request: shorter than the silence after which another
        /// node claims (`Limits.Cluster.suspicionMilliseconds`), so that a takeover seldom has to wait for its end.
        public static let leaseMilliseconds: Int64 = 1_000
        /// Milliseconds that the next owner waits after the last frame of the one before, in case that has its lease from it: the lease, and
        /// more than the clocks of two machines differ in that time.
        public static let leaseWaitMilliseconds: Int64 = 1_050
        /// Milliseconds after the request of its last confirmed frame when an owner without work renews its lease at the latest: the log has
        /// two tries.
        public static let renewMilliseconds: Int64 = 400
        /// Milliseconds between the moments at which leases are renewed, instead of each on its own: half of the time between two renewals,
        /// so the partitions of a node renew in two groups at most.
        public static let renewalGridMilliseconds: Int64 = 200
        /// Renewals in a row of which the store notes the position: what it has noted need not be read again and can be purged. At the pace
        /// of renewals that is one write in two minutes.
        public static let notedRenewals = 256
        /// Milliseconds until a read is repeated that failed or whose answer was out of date, or with which the owner before looks for its
        /// successor.
        public static let rereadMilliseconds: Int64 = 100
        /// Milliseconds until a frame is appended again that the log refuses each time, at most: once it has room, that is soon.
        public static let refusedMilliseconds: Int64 = 500
        /// Milliseconds without a connection to the log after which an owner gives up: another node has taken over long before.
        public static let isolationMilliseconds: Int64 = 5_000
        /// Milliseconds for which every answer is that the log ends before what was confirmed, until it has lost records for certain: a
        /// leader without a majority answers for up to 10 s.
        public static let lostMilliseconds: Int64 = 12_000
        /// Looks in a row before a claim that find the log too short, until it is repaired: a repair without need does no harm.
        public static let shortLooks = 10
        /// Reads in a row of a repair that find less than this node could append again: some ten seconds.
        public static let shortEnds = 24
        /// Milliseconds that a node without some confirmed records waits until they are appended again, before it copies the store of another
        /// node: a repair may wait for an election, and a copy costs more than the wait.
        public static let missingMilliseconds: Int64 = 10_000
        /// Bytes of a partition that a node keeps to append them again: what is lost is what was not yet synced, some hundred
        /// milliseconds.
        public static let keptBytes = 4 << 20
        /// Records that it keeps: those of a second at a high rate.
        public static let keptRecords = 4_096
        /// Positions that a repair fills beyond the highest that nodes have reported: some heartbeats at a high rate.
        public static let repairSlack: UInt64 = 1_024
        /// Records that a repair appends at a time, and then looks what has arrived.
        public static let repairedRecords = 256
        /// Unconfirmed frames up to which whatever waits is sent at once; beyond, more is gathered, since the cost is per frame.
        public static let eagerFrames = 2
        /// Bytes that wait for a frame after which it is sent although others are unconfirmed.
        public static let gatheredBytes = 65_536
        /// Bytes of batches of one partition that wait for a frame; further ones are refused, as with a disk that does not keep up.
        public static let waitingBytes = 64 << 20
    }
}
