extension Limits {
    /// Limits of the control socket and of values that an operator sets.
    public enum Operator {
        /// Bytes of one control request: rows of an import, escaped once more.
        public static let requestBytes = 1_048_576
        /// Bytes of a certificate or key that `ccsctl reload` sends: both, escaped, fit into one control request.
        public static let fileBytes = 24_576
        /// Bytes of the path of such a certificate or key, which errors show: the kernel's limit.
        public static let pathBytes = 4_096
        /// Bytes of the label of a sender: a name for people, on one line of a list.
        public static let labelBytes = 255
        /// Bytes of one line of a control response: a full listing of long rows.
        public static let lineBytes = 16_777_216
        /// Seconds that a tool waits for the next line of the daemon: some commands wait for several answers, one after the other.
        public static let silenceSeconds = 40
        /// The same, for commands that read or write much of the store between two lines: an audit reads all of it.
        public static let longSilenceSeconds = 300
        /// Seconds that a control command waits for the store or a reactor.
        public static let answerSeconds = 10
        /// Messages whose IDs one trace of a device remembers: beyond it all are forgotten, and ends of messages show the key
        /// alone.
        public static let tracedMessages = 10_000
        /// Seconds that one trace of a device may take.
        public static let traceSeconds = 86_400
        /// Seconds between two progress lines of a trace without events.
        public static let traceProgressSeconds = 5
        /// Keys of one sender that are valid at once: a rotation needs two.
        public static let keysPerSender = 8
        /// Service accounts of one sender, as at Google.
        public static let accountsPerSender = 10
        /// Bytes of a project ID, as at Google, so that libraries and paths accept it.
        public static let projectBytes = 6...30
        /// Bits of a service account's RSA key.
        public static let accountKeyBits = 2_048
        /// Characters of the shortest server key that an operator may choose: 128 bits in hexadecimal.
        public static let shortestServerKey = 16
        /// Control connections at once.
        public static let connections = 32
        /// Waiting messages that the report about a device lists: its counts cover all.
        public static let shownMessages = 100
        /// Rows that a listing returns at most; the response contains how many were left out.
        public static let listedRows = 10_000
        /// Rows of a page of a listing if the request gives no number: a few screens.
        public static let listedRowsDefault = 100
        /// Devices that one page of the list examines: about a second of reading, so that no command waits much longer.
        public static let examinedDevices = 50_000
        /// Devices that are read from the store in one step: a step must not hold a snapshot, or many mailboxes, for long.
        public static let devicesPerRead = 500
        /// Messages that are read from a mailbox in one step of a list: 4 MiB if all have the largest payload.
        public static let messagesPerRead = 1_000
        /// Upstream messages of one sender that are counted for its statistics: more is a backlog of any size.
        public static let countedUpstream = 10_000
        /// Seconds for which an operator may change the log level: a week, after which a forgotten change ends.
        public static let logLevelSeconds = 604_800
        /// Bytes of the audit log at which it is rotated: some 40,000 commands.
        public static let auditFileBytes = 8_388_608
        /// Rotated files of the audit log that are kept, so that it takes at most 40 MiB.
        public static let auditFilesKept = 4
    }
}
