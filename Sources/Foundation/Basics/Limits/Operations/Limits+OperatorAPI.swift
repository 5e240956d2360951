extension Limits {
    /// Limits of the operator API over HTTPS.
    public enum OperatorAPI {
        /// Operators with a token: people and scripts of one server.
        public static let operators = 100
        /// Bytes of the name of an operator: one cell of a list.
        public static let nameBytes = 64
        /// Random bytes of a token and of the secret of a session: 256 bits cannot be guessed.
        public static let secretBytes = 32
        /// Random bytes of the name of the cookie: those of two processes are different.
        public static let cookieBytes = 8
        /// Seconds of the longest lifetime of a token that ends: ten years.
        public static let tokenSeconds = 315_360_000
        /// Sessions of browsers at once.
        public static let sessions = 256
        /// Sessions of one operator: several browsers on several machines.
        public static let sessionsPerOperator = 16
        /// Seconds after which a session ends: a working day.
        public static let sessionSeconds = 43_200
        /// Seconds without a request after which a session ends.
        public static let sessionIdleSeconds = 1_800
        /// Arguments in a query: no operation has as many.
        public static let queryFields = 32
        /// Bytes of a request body that are read before the credentials are checked.
        public static let unauthenticatedBodyBytes = 8_192
        /// Commands and streams at once, each of which has a thread: ten consoles with two streams each, and tools beside.
        public static let commands = 64
        /// Streams among them: the others remain for short commands, such as `status`.
        public static let streams = 40
        /// Commands and streams of all viewers: the others remain for the role operator.
        public static let viewerCommands = 48
        /// Streams of all viewers, for the same reason.
        public static let viewerStreams = 32
        /// Those of one operator: six consoles with two streams each, and tools beside, while two operators like this leave room for
        /// others.
        public static let commandsPerOperator = 24
        /// Refused commands of one caller that are recorded in a minute: a person makes few mistakes, a program may repeat one.
        public static let recordedRefusals = 60
        /// Seconds for which refused commands are counted.
        public static let refusalSeconds = 60
        /// Bytes of an answer or of unread events that wait for a slow reader: the longest answer; beyond it the connection ends.
        public static let outboundBytes = 16_777_216
        /// Milliseconds between two events with the figures.
        public static let figuresMilliseconds: Int64 = 1_000
        /// Seconds after which a caller that was refused because of too many failures or commands may try again.
        public static let retrySeconds = 10
    }
}
