extension Limits {
    /// Limits of frames of MCS connections.
    public enum MCS {
        /// Bytes of one MCS frame.
        public static let frameBytes = 65_536
        /// Bytes of an MCS login: some clients name all that they have ever received, here a hundred thousand messages.
        public static let loginFrameBytes = 4_194_304
        /// Bytes of a login longer than a frame, apart from its received ids: real ones have under 500.
        public static let afterLoginBytes = 16_384
        /// Bytes of the newest received ids kept of such a login: those of a thousand messages, more than wait for an ack.
        public static let loginIDBytes = 49_152
        /// Bytes of a received id in such a login; ours have 39, and others say nothing to us.
        public static let receivedIDBytes = 64
        /// Seconds in which a frame that a device has begun must end: Chromium gives the server half of that.
        public static let frameDeadlineSeconds = 60
        /// Settings in one login that are looked at; clients send two at most.
        public static let loginSettings = 16
        /// Received persistent ids looked at in one login: the newest.
        public static let receivedIDs = 4_096
    }
}
