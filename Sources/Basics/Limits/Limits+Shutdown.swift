extension Limits {
    /// Limits of drain and stop.
    public enum Shutdown {
        /// Seconds between the draining notice and the first close.
        public static let drainGraceSeconds = 10
        /// Seconds over which the closes of a drain are spread, jittered: no reconnect storm.
        public static let drainSpreadSeconds = 120
        /// Milliseconds without a message from a drained app server after which one that owes and is owed nothing has had its
        /// chance: an answer from far away takes less.
        public static let drainQuietMilliseconds: Int64 = 2_000
        /// Seconds that a process given SIGTERM takes at most before it ends all the same.
        public static let seconds = 30
        /// Milliseconds beyond grace and spread after which a drain gives up on what is still open.
        public static let drainSlackMilliseconds: Int64 = 5_000
        /// Milliseconds that a connection accepted just before the end of the process has to finish its handshake and its login
        /// or first request: several round trips to the other side of the world.
        public static let lastCallMilliseconds: Int64 = 2_000
        /// Milliseconds between two looks at who is left then: clients wait for the next process meanwhile.
        public static let lastCallPollMilliseconds: Int64 = 5
        /// Milliseconds between two looks at a drain that is under way.
        public static let drainPollMilliseconds: Int64 = 50
        /// Milliseconds of one turn of the main thread: certificates are looked at, the watchdog is told.
        public static let mainTurnMilliseconds: Int64 = 10_000
        /// Seconds beyond `shutdownSeconds` after which the process ends with what is not finished.
        public static let slackSeconds = 10
        /// Seconds that a start which a wrong configuration or command line refuses takes where systemd holds the sockets: it
        /// starts ccsd again for every connection that waits, at once, and gives up the sockets after 20 starts in 2 seconds.
        public static let refusedStartSeconds = 5
    }
}
