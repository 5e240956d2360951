extension Limits {
    /// Limits of the APNs gateway.
    public enum APNs {
        /// Bytes of a payload (apns 1.2).
        public static let payloadBytes = 4_096
        /// Bytes of the payload of a VoIP push (apns 1.2).
        public static let voipPayloadBytes = 5_120
        /// Bytes written to one connection in one turn.
        public static let writeBytes = 65_536
        /// Seconds after which a connection whose bytes are not acknowledged is dead.
        public static let silenceSeconds = 20
        /// Seconds that a shutdown waits for Apple's answers.
        public static let drainSeconds = 10
        /// Seconds that a self-test waits for Apple's answers.
        public static let selfTestSeconds = 20
    }
}
