extension Limits {
    /// Limits of clock errors: how far the wall clock may be wrong, and what the server does while it is in doubt.
    public enum Clock {
        /// 2023-01-01, in milliseconds since 1970: this software is younger, so an earlier clock was never set.
        public static let earliest: Int64 = 1_672_531_200_000
        /// 2100-01-01, in milliseconds since 1970: a clock from then on is broken.
        public static let latest: Int64 = 4_102_444_800_000
        /// Seconds by which the clock may be ahead of the time at which the last process ran: a long weekend without power. At a
        /// start nothing else is known; while a process runs, `stepSeconds` counts. Messages live up to four weeks, and a doubt costs only that nothing expires for a few hours, so little is gained by
        /// more.
        public static let aheadSeconds = 259_200
        /// Seconds by which the clock may be behind: more than time servers set it back.
        public static let behindSeconds = 60
        /// Seconds by which the wall clock may differ from the time that the process has measured by its monotonic clock, in
        /// either direction: a leap second, and the steps of a time server that keeps a clock right. More is a jump, which is not
        /// followed until it is confirmed.
        public static let stepSeconds = 10
        /// Seconds for which a jump of up to `aheadSeconds` must last to be followed as a correction: longer than an error that an
        /// operator or a time server takes back, and short enough that a clock that was wrong at the start does not matter for
        /// long.
        public static let jumpConfirmedSeconds = 600
        /// Seconds of running after which a clock in doubt is trusted: time for an operator or a time server to set it, and a
        /// server that was really off for weeks works normally again before its mailboxes fill.
        public static let graceSeconds = 21_600
        /// Seconds between two records of the time in the store: a clock set back by more than twice that is found at the next
        /// start.
        public static let markSeconds = 30
        /// Seconds by which a device's own clock may differ from the server's and still confirm it: most differ by less than a
        /// minute.
        public static let agreementSeconds = 3_600
        /// Time of contact recorded for a device while the clock is in doubt, in milliseconds since 1970: long before
        /// `earliest`, so that it cannot be taken for a real time.
        public static let contactInDoubt: Int64 = 0
        /// Milliseconds added to the latest possible time when a lifetime starts while the clock is in doubt: the lifetime may
        /// be too long, but not too short.
        public static let lifetimeInDoubt = Int64(Limits.Message.lifetimeSeconds) * 1_000
        /// Devices that may be forgotten for their age at once: what an ordinary hour of a million devices brings.
        public static let devicesForgottenAtOnce = 200
        /// Devices that may be forgotten for their age in an hour: ten million leave more slowly, and after an operator has
        /// accepted a wrong clock, this leaves time to correct it.
        public static let devicesForgottenPerHour = 2_000
    }
}
