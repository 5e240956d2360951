extension Limits {
    /// Limits of frames on MCS connections.
    public enum MCS {
        /// Bytes of one frame after login.
        public static let frameBytes = 65_536
        /// Bytes of a login frame: some clients list all IDs that they have ever received, here a hundred thousand.
        public static let loginFrameBytes = 4_194_304
        /// Bytes of all other fields of a login frame that is longer than `frameBytes`: real ones have under 500.
        public static let otherLoginBytes = 16_384
        /// Bytes of the newest received IDs kept of such a login: those of a thousand messages, more than wait for an ack.
        public static let loginIDBytes = 49_152
        /// Bytes of one received ID in such a login; the server's have 39, and longer ones are ignored.
        public static let receivedIDBytes = 64
        /// Seconds in which a device must finish a frame: Chromium gives the server half of that.
        public static let frameDeadlineSeconds = 60
        /// Settings that are read in one login; clients send two at most.
        public static let loginSettings = 16
        /// Received persistent IDs that are read in one login: the newest.
        public static let receivedIDs = 4_096
    }
}
