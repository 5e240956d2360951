/// The bounds of what the operator sees and sets: control socket, configuration, log and metrics.
extension Limits {
    // MARK: Control socket

    /// Bytes of one control request.
    public static let controlRequestBytes = 65_536
    /// Bytes of a certificate or key that `ccsctl reload` hands over: both, escaped, fit into one control request.
    public static let handedFileBytes = 24_576
    /// Bytes of the path of a handed certificate or key, which errors name: the longest that the kernel takes.
    public static let handedPathBytes = 4_096
    /// Bytes of the label of a sender: a name for people, on one line of a list.
    public static let labelBytes = 255
    /// Bytes of one line of a control answer: a full listing of long rows.
    public static let controlLineBytes = 16_777_216
    /// Seconds that a tool waits for the next line of the daemon: an audit of a large store reads all of it.
    public static let controlSilenceSeconds = 300
    /// Seconds that a control command waits for an answer from the store or a reactor.
    public static let controlAnswerSeconds = 10
    /// Messages whose ids one trace of a device remembers: beyond it all are forgotten, and ends are told by place alone.
    public static let tracedMessages = 10_000
    /// Seconds that one trace of a device may take.
    public static let traceSeconds = 86_400
    /// Seconds between two signs of life of a trace in which nothing happens.
    public static let traceProgressSeconds = 5
    /// Keys of one sender that are valid at once: a rotation needs two.
    public static let keysPerSender = 8
    /// Service accounts of one sender: as with the real service.
    public static let accountsPerSender = 10
    /// Bytes of a project id: as with the real service, so that libraries and paths take it.
    public static let projectBytes = 6...30
    /// Bits of a service account's RSA key.
    public static let accountKeyBits = 2_048
    /// Characters of the shortest server key that an operator may choose: 128 bits in hexadecimal.
    public static let shortestServerKey = 16
    /// Control connections at once.
    public static let controlConnections = 32
    /// Waiting messages of one device that its page names: the counts beside them are of all.
    public static let shownMessages = 100
    /// Rows that a listing returns at most; the answer says how many were left out.
    public static let listedRows = 10_000
    /// Rows of a page of a listing where no number is given: a few screens.
    public static let listedRowsPreset = 100

    // MARK: Configuration

    /// Bytes of a configuration file: the sample, full of comments, has under 10 KiB.
    public static let configBytes = 262_144
    /// Values in a configuration file, aliases counted each time: bounds what aliases can multiply.
    public static let configNodes = 4_096
    /// Nesting of a configuration file: ours has three levels.
    public static let configDepth = 8
    /// Mistakes that are reported at once; the rest is counted.
    public static let configProblems = 50

    /// Bytes of the path of a UNIX-domain socket: the kernel has room for 108, one of them for the end.
    public static let socketPathBytes = 107
    /// Milliseconds that a check waits for the daemon beside it: a status takes a few.
    public static let checkAnswerMilliseconds: Int64 = 3_000
    /// Characters of a wrong value that a message repeats: enough to find it again.
    public static let shownCharacters = 40

    // MARK: Log and metrics

    /// Bytes of one value in a log line; what a stranger sends may be longer, and one line must stay readable.
    public static let logValueBytes = 512
    /// Lines of one event in a second; more are counted and held back, so that a storm does not fill the disk.
    public static let logLinesPerEventAndSecond = 20
    /// Events whose rate is remembered: all of ours, with room to spare.
    public static let logEventsRemembered = 1_024
    /// Cells of a metric up to which those that are zero stand on the page of metrics; beyond it the page would be mostly zeros.
    public static let renderedZeroCells = 128
    /// Seconds between two lines of an event that goes on failing: ten minutes of one trouble make 21 lines.
    public static let repeatedEventSeconds = 30
    /// Kinds of failing events that are told apart at a time; a stranger who makes more of them shares one place.
    public static let repeatedEventsRemembered = 256
    /// Kinds of refusals that one turn of a reactor logs; more are counted with the last.
    public static let refusalsPerTurn = 64
    /// Bytes of an address or a message ID of a refused request in its log line: enough to find it again, too few to use it.
    public static let refusedTextBytes = 16
}
