extension Limits {
    /// Limits of connections and listeners, whatever their protocol.
    public enum Connection {
        /// Connections accepted in one turn of a reactor, so that a storm does not starve those that are open.
        public static let acceptsPerTurn = 64
        /// Bytes read from one connection in one turn, for the same reason.
        public static let readBytesPerTurn = 262_144
        /// Outbound bytes of one connection that wait for the peer.
        public static let outboundBytes = 1_048_576
        /// Waiting outbound bytes under which a congested connection is ready again.
        public static let outboundLowBytes = 65_536
        /// Seconds that outbound bytes may wait without one leaving.
        public static let writeDeadlineSeconds = 30
        /// Milliseconds that a closed connection waits for the peer's end, so that our last bytes are not reset away.
        public static let lingerMilliseconds = 2_000
        /// Milliseconds for which a listener rests when there is no descriptor for a new connection.
        public static let acceptPauseMilliseconds = 100
        /// Bytes of an outbox up to which a busy connection keeps its memory from turn to turn.
        public static let warmOutboxBytes = 16_384
        /// Milliseconds without sending after which that memory is given back.
        public static let warmMilliseconds: Int64 = 500
        /// Descriptors whose readiness is taken from the kernel at once.
        public static let readinessPerTurn = 512
        /// Connections that the kernel holds for a listener until we accept them: a reconnect storm of one second.
        public static let acceptBacklog = 4_096
        /// Seconds from the first packet to the end of the TLS handshake of a connection that we open.
        public static let connectDeadlineSeconds = 10
        /// Seconds of silence after which the kernel asks whether the peer's machine still lives.
        public static let tcpKeepaliveSeconds = 300
        /// Seconds for which sent data may stay unacknowledged by the peer's kernel: it is dead then.
        public static let peerSilenceSeconds = 60
        /// Timers that our own code may set on one reactor, beside the one of each connection.
        public static let timersPerReactor = 65_536
        /// Connections from one address, or one IPv6 network, that have not logged in, by listener and reactor: a reconnect storm
        /// behind one address has fewer at a time, as a login takes milliseconds. Each costs memory for a TLS handshake.
        public static let anonymousPerAddress = 1_000
        /// Bytes of a PROXY header of version 1, as its specification has it.
        public static let proxyHeaderV1Bytes = 107
        /// Bytes of a PROXY header of version 2: 16, and 536 for addresses and what proxies add, which is more than any adds now.
        public static let proxyHeaderV2Bytes = 552
        /// Events and commands that wait for another reactor.
        public static let reactorMailbox = 262_144
        /// Descriptors that connections leave to the store (its sorted files and logs), to listeners and to the control socket:
        /// a store that can open no file takes no writes, and strangers must not bring that about.
        public static let descriptorsKept = 768
        /// Descriptors that no connection takes whatever the limit has become since the start, and whatever else is open: a change
        /// of the store's log, the sorted file that it ends in, and a compaction.
        public static let descriptorsSpared = 64
        /// Bytes that malloc calls free before they go back to the system: less is soon used again.
        public static let freeMemoryBytes = 16_777_216
        /// Bytes by which resident memory has grown since the last time before free ones go back again: as many as may be free, so
        /// that each storm finds them given back, and what was given back long ago is not taken for free.
        public static let grownMemoryBytes = Limits.Connection.freeMemoryBytes
    }
}

extension Limits {
    /// Limits of certificates and other files that are read whole.
    public enum Certificate {
        /// Bytes of a certificate chain or key file: the longest real chains have 20 KiB.
        public static let fileBytes = 1_048_576
        /// Seconds between two looks at whether the certificate files have changed.
        public static let checkSeconds = 10
        /// Seconds for which one key seals TLS session tickets.
        public static let ticketKeySeconds = 86_400
        /// Days before its end at which a certificate of our own making is renewed, and one from elsewhere is warned of.
        public static let renewalDays = 30
    }
}
