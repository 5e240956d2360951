extension Limits {
    /// Limits of the links between the nodes of a cluster.
    public enum NodeLinks {
        /// Bytes of a parcel: each that the node protocol writes.
        public static let parcelBytes = Limits.NodeProtocol.parcelBytes
        /// Bytes of a frame before both nodes have introduced themselves: a hello and room for later versions.
        public static let helloBytes = 256
        /// Bytes that wait for a node which does not read, after which the link ends; two seconds of a link at full rate are less.
        public static let queueBytes = 67_108_864
        /// Bytes that wait, above which requests are refused: half is left for what has no answer and would be lost with the link.
        /// They are eight requests of 1,000 recipients with 4 KiB each.
        public static let requestQueueBytes = queueBytes / 2
        /// Bulk copies at a time in each direction of a link: the files of one checkpoint are copied one after the other.
        public static let streams = 4
        /// Bytes of the description of a copy: the name of a file, its length and its hash.
        public static let streamHeaderBytes = 4_096
        /// Bytes of a copy that the receiver has not stored: a parcel waits no longer than their transfer takes.
        public static let streamWindowBytes = 1_048_576
        /// Bytes of a chunk of a copy: parcels pass between chunks.
        public static let chunkBytes = 65_536
        /// Milliseconds from the accepted connection to the end of the TLS handshake, and from there to the hello: a network across
        /// the world needs less than one second.
        public static let handshakeMilliseconds: Int64 = 3_000
        /// Milliseconds between two pings: four are lost before a link is.
        public static let pingMilliseconds: Int64 = 375
        /// Milliseconds without any byte of the other node after which a link is lost, and what was requested over it is answered: by then
        /// another node has what was suspected.
        public static let silenceMilliseconds: Int64 = 1_500
        /// Milliseconds by which a tick may be late before this node was itself stopped: the kernel does not delay it so much.
        public static let lateMilliseconds: Int64 = 500
        /// Connections that have not introduced themselves, of one address: a node dials once at a time.
        public static let strangers = 8
        /// Connections of the listener: two of each node, and some strangers.
        public static let connections = 2 * Limits.Cluster.nodes + 64
        /// Milliseconds until a lost link is dialled again, at first: a restarted node answers after less than a second.
        public static let redialMilliseconds: Int64 = 100
        /// Milliseconds until it is dialled again at the latest: a node that is away costs little.
        public static let longestRedialMilliseconds: Int64 = 3_000
        /// Refused connections that are reported in a second: strangers must not fill the log.
        public static let refusalsPerSecond = 10
    }
}
