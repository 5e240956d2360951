extension Limits {
    /// Limits of device groups.
    public enum Group {
        /// Members of a device group, as at Google (http 6.1).
        public static let members = 20
        /// Bytes of the name of a group.
        public static let labelBytes = 1_024
        /// Requests about groups that wait for the store; later ones are answered with "try again".
        public static let waitingRequests = 10_000
        /// Messages to groups that wait for the store or for members; each holds up to twenty results.
        public static let waitingSends = 10_000
    }
}
