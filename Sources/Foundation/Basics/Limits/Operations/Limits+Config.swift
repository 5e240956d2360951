extension Limits {
    /// Limits of the configuration file.
    public enum Config {
        /// Bytes of a configuration file: the sample, full of comments, has under 10 KiB.
        public static let bytes = 262_144
        /// Values in a configuration file, aliases counted each time: bounds what aliases can multiply.
        public static let nodes = 4_096
        /// Nesting of a configuration file: ours has three levels.
        public static let depth = 8
        /// Mistakes that are reported at once; the others are counted.
        public static let problems = 50
        /// Bytes of the path of a UNIX-domain socket: the kernel has room for 108, one of them for the terminating NUL.
        public static let socketPathBytes = 107
        /// Milliseconds that a check waits for the running daemon: a status takes a few.
        public static let checkAnswerMilliseconds: Int64 = 3_000
        /// Characters of an invalid value that an error shows: enough to find it.
        public static let shownCharacters = 40
    }
}
