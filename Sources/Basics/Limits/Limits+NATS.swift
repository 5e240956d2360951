extension Limits {
    /// Limits of the client side of NATS.
    public enum NATS {
        /// Bytes of a control line but `INFO`: the server's own limit (`max_control_line`).
        public static let lineBytes = 4_096
        /// Bytes of the server's description, which names all servers of its cluster.
        public static let infoBytes = 65_536
        /// Bytes of a message with its headers: a frame of the log in Base64, and the JSON around it.
        public static let messageBytes = 2_097_152
        /// Bytes of a subject: those that we use are much shorter.
        public static let subjectBytes = 255
    }
}
