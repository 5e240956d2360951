extension Limits {
    /// Limits of connections and listeners of all protocols.
    public enum Connection {
        /// Connections accepted in one turn of a reactor, so that a storm does not starve the open ones.
        public static let acceptsPerTurn = 64
        /// Bytes read from one connection in one turn, for the same reason.
        public static let readBytesPerTurn = 262_144
        /// Outbound bytes of one connection that wait for the peer.
        public static let outboundBytes = 1_048_576
        /// Waiting outbound bytes below which a congested connection is ready again.
        public static let outboundLowBytes = 65_536
        /// Seconds for which outbound bytes may wait without progress.
        public static let writeDeadlineSeconds = 30
        /// Milliseconds that a closed connection waits for the peer's end of stream, so that a reset does not discard our last
        /// bytes.
        public static let lingerMilliseconds = 2_000
        /// Milliseconds for which a listener pauses when there is no descriptor for a new connection.
        public static let acceptPauseMilliseconds = 100
        /// Largest outbox in bytes whose memory a busy connection keeps from turn to turn.
        public static let warmOutboxBytes = 16_384
        /// Milliseconds without sending after which that memory is freed.
        public static let warmMilliseconds: Int64 = 500
        /// Descriptors whose readiness is read from the kernel at once.
        public static let readinessPerTurn = 512
        /// Connections that the kernel queues for a listener until they are accepted: a reconnect storm of one second.
        public static let acceptBacklog = 4_096
        /// Seconds from the first packet to the end of the TLS handshake of an outbound connection.
        public static let connectDeadlineSeconds = 10
        /// Seconds of silence after which the kernel probes the peer.
        public static let tcpKeepaliveSeconds = 300
        /// Seconds for which the peer's kernel may leave sent data unacknowledged before the connection counts as dead.
        public static let peerSilenceSeconds = 60
        /// Timers that callers may set on one reactor, in addition to the one of each connection.
        public static let timersPerReactor = 65_536
        /// Connections that have not logged in from one address or IPv6 network, for each listener and reactor: a reconnect
        /// storm behind one address has fewer at a time, as a login takes milliseconds. Each costs memory for a TLS handshake.
        public static let anonymousPerAddress = 1_000
        /// Bytes that one connection costs before its login: 46 KiB were measured during the TLS handshake, most of them OpenSSL's.
        public static let beforeLoginCost = 49_152
        /// Bytes of all connections that have not logged in: 5,461 connections at once, more than a reconnect storm has within the
        /// five seconds of a handshake on a small server.
        public static let beforeLoginBytes = 268_435_456
        /// Bytes of a version 1 PROXY header, as its specification has it.
        public static let proxyHeaderV1Bytes = 107
        /// Bytes of a version 2 PROXY header: 16, and 536 for addresses and extensions, which is more than any proxy adds now.
        public static let proxyHeaderV2Bytes = 552
        /// Events and commands that wait for another reactor.
        public static let reactorMailbox = 262_144
        /// Descriptors reserved for the store (sorted files and logs), listeners and the control socket: a store that cannot
        /// open a file refuses all writes, and unauthenticated peers must not cause that.
        public static let reservedDescriptors = 768
        /// Descriptors without which ccsd does not start: half of them are for connections, and with few more than the store, the listeners
        /// and the threads have it would serve no client and look healthy.
        public static let leastDescriptors = 256
        /// Descriptors that connections always leave free, even if the limit was lowered after the start: enough for a new log
        /// of the store, the sorted file written from the old one, and a compaction.
        public static let alwaysFreeDescriptors = 64
        /// Free bytes within malloc above which they are returned to the system: fewer are soon used again.
        public static let freeMemoryBytes = 16_777_216
        /// Bytes by which resident memory must have grown before free memory is returned again: the same number, so that memory
        /// is returned after each storm, and memory returned earlier is not counted as free.
        public static let grownMemoryBytes = Limits.Connection.freeMemoryBytes
    }
}

extension Limits {
    /// Limits of certificates and other files that are read as a whole.
    public enum Certificate {
        /// Bytes of a certificate chain or key file: the longest real chains have 20 KiB.
        public static let fileBytes = 1_048_576
        /// Seconds between two checks for changed certificate files.
        public static let checkSeconds = 10
        /// Seconds for which one key encrypts TLS session tickets.
        public static let ticketKeySeconds = 86_400
        /// Days before its expiry at which a self-made certificate is renewed, and a warning about any other one is logged.
        public static let renewalDays = 30
    }
}
