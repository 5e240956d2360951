extension Limits {
    /// Limits of clock errors: how far the wall clock may be wrong, and what the server does while it is in doubt.
    public enum Clock {
        /// 2023-01-01, in milliseconds since 1970: this software is younger, so an earlier clock was never set.
        public static let earliest: Int64 = 1_672_531_200_000
        /// 2100-01-01, in milliseconds since 1970: a clock from then on is broken.
        public static let latest: Int64 = 4_102_444_800_000
        /// Seconds by which the clock may be ahead of the time at which a process last ran: a long weekend without power.
        /// Messages live up to four weeks, and a doubt costs only that nothing expires for a few hours, so little is gained by
        /// more.
        public static let aheadSeconds = 259_200
        /// Seconds by which the clock may be behind: more than time servers set it back.
        public static let behindSeconds = 60
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
