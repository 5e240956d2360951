extension Limits {
    /// Limits of the APNs gateway.
    public enum APNs {
        /// Bytes of a payload (apns 1.2).
        public static let payloadBytes = 4_096
        /// Bytes of the payload of a VoIP push (apns 1.2).
        public static let voipPayloadBytes = 5_120
        /// Bytes of `apns-collapse-id` (apns 1.2).
        public static let collapseIDBytes = 64
        /// Seconds that APNs keeps a message of HTTP v1 that names no expiration: 30 days (apns 3.3).
        public static let lifetimeSeconds = 2_592_000
    }
}
