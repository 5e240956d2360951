extension Limits {
    /// Limits of drain and shutdown.
    public enum Shutdown {
        /// Seconds between the draining notice and the first close.
        public static let drainGraceSeconds = 10
        /// Seconds over which the closes of a drain are spread, jittered: no reconnect storm.
        public static let drainSpreadSeconds = 120
        /// Milliseconds without a message after which a drained app server without anything pending counts as quiet: a reply
        /// from far away takes less.
        public static let drainQuietMilliseconds: Int64 = 2_000
        /// Seconds after SIGTERM at which the process ends at the latest.
        public static let seconds = 30
        /// Milliseconds beyond grace and spread after which a drain closes what is still open.
        public static let drainSlackMilliseconds: Int64 = 5_000
        /// Milliseconds that a connection accepted just before the end of the process has to finish its handshake and its login
        /// or first request: several round trips to the other side of the world.
        public static let lastCallMilliseconds: Int64 = 2_000
        /// Milliseconds between two checks of those connections: clients wait for the next process meanwhile.
        public static let lastCallPollMilliseconds: Int64 = 5
        /// Milliseconds between two checks of a drain in progress.
        public static let drainPollMilliseconds: Int64 = 50
        /// Milliseconds of one turn of the main thread, which checks certificates and notifies the watchdog.
        public static let mainTurnMilliseconds: Int64 = 10_000
        /// Seconds beyond `seconds` after which the process ends with work unfinished.
        public static let slackSeconds = 10
        /// Seconds that a start refused for a wrong configuration or command line takes if systemd holds the sockets: systemd
        /// restarts ccsd at once for each waiting connection, and gives up the sockets after 20 starts in 2 seconds.
        public static let refusedStartSeconds = 5
        /// Milliseconds between two looks at the files of the configuration meanwhile: an operator does not notice them.
        public static let refusedStartPollMilliseconds: Int64 = 100
    }
}
