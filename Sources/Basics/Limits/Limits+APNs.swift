extension Limits {
    /// Limits of the APNs gateway.
    public enum APNs {
        /// Bytes of a payload (apns 1.2).
        public static let payloadBytes = 4_096
        /// Bytes of the payload of a VoIP push (apns 1.2).
        public static let voipPayloadBytes = 5_120
    }
}
