extension Limits {
    /// Limits of the test clock.
    public enum TestClock {
        /// Seconds by which all advances together may move the time: ten years, longer than anything lives, and far from the year
        /// 2100, at which a clock counts as broken.
        public static let advanceSeconds = 315_360_000
    }
}
