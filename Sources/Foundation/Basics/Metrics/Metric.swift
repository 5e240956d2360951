/// Every metric of the server: name, kind, meaning and labels, in one table.
///
/// Labels take values from fixed lists, so the number of cells is known at compile time, and a peer cannot make it grow. The few
/// metrics whose labels have no list (`isListed`) are passed to the renderer with a bounded number of series.
public enum Metric: Int, CaseIterable, Sendable {
    case connectionsOpen
    case connectionsAccepted
    case connectionsClosed
    /// Connections that were closed at accept, or before their login for newer ones.
    case connectionsRefused
    /// Memory of connections that have not logged in.
    case beforeLoginBytes
    case handshakes
    case receivedBytes
    case sentBytes
    case sessionsOpen
    case logins
    case messages
    /// Messages of single senders.
    case senderMessages
    case messagesWaiting
    /// From the arrival of a message until its acknowledgement is written.
    case ackTimes
    /// From the acceptance of a message until its device has acknowledged it.
    case deliveryTimes
    case refusals
    case upstreamDuplicates
    case unknownAcks
    case keepalives
    case inconsistentLogins
    /// Failed invariants, by what was ended for them.
    case invariantFailures
    case httpRequests
    /// HTTP responses by endpoint and status.
    case httpResponses
    /// From a complete request until its response, by endpoint and class of status.
    case httpTimes
    case devices
    case registrations
    case senders
    case devicesExpired
    /// Devices forgotten because they were never used.
    case devicesUnused
    /// Messages to topics and conditions that were accepted.
    case topicMessages
    /// App instances whose mailboxes topic messages have entered, or that were sent now-or-never ones.
    case topicRecipients
    /// Topic messages that not all partitions have.
    case topicMessagesOpen
    case storeCommitTimes
    case storeSyncTimes
    case storeQueryTimes
    case storeWrites
    case storeWaitingWrites
    case storeFailures
    case storeHealthy
    /// Tables of the store with blocks that cannot be read.
    case storeDamagedTables
    /// Bytes of tables whose checksums the scrub has read, and those left in its present round.
    case storeScrubbedBytes
    case storeScrubRemainingBytes
    case storeBytes
    case journalBytes
    /// How often a record that cannot be read was skipped.
    case storeSkippedRecords
    /// When the last backup was made.
    case lastBackup
    case diskFreeBytes
    case diskSizeBytes
    /// The size of devices, registrations, subscriptions, groups and senders.
    case registryBytes
    case registryBytesLimit
    /// Steps in the message history, and those that are missing there.
    case historySteps
    case historyLeftOut
    case historyFailures
    case historyBytes
    case reactorTurnTimes
    case logLinesSuppressed
    /// Whether `/readyz` answers with 200.
    case ready
    case draining
    /// Whether an operator has closed the ports of clients.
    case drained
    case clockInDoubt
    case configReloads
    case configReloadSuccess
    case certificateNotAfter
    case apnsCertificateNotAfter
    case buildInfo
    /// Deliveries that the APNs gateway answered.
    case apnsDeliveries
    case apnsAnswers
    case apnsAnswerTimes
    case apnsConnections
    case apnsConnects
    case apnsRequestsOpen
    case apnsQueue
    case apnsTokenMinted
    case webhookRequests
    case webhookAnswerTimes
    case webhookRequestsOpen
    /// Endpoints of webhooks, by state.
    case webhookEndpoints
    /// Nodes of a cluster, as this one sees them.
    case clusterMembers
    case clusterPartitions
    case clusterUnowned
    case clusterTakeovers
    case clusterLosses
    case clusterAlarms
    case clusterFrames
    case clusterFrameBytes
    case clusterConfirmTimes
    case clusterApplied
    case clusterVoids
    case clusterBehind
    case clusterLogDisconnected
    case clusterLogDisconnects
    case clusterLogFailures
    case clusterLinks
    case clusterParcels
    case clusterParcelBytes
    case clusterForwarded
    case clusterCopies
    case clusterHeld
    case clusterUnreached
    case processCPU
    case processResidentMemory
    case processVirtualMemory
    case processStartTime
    case processOpenDescriptors
    case processMaxDescriptors

    /// How a metric is to be read.
    public enum Kind: String, Sendable {
        case counter
        case gauge
        /// Counts of durations by the bounds that they do not exceed, and the sum of all.
        case histogram
    }

    /// One label with all its values.
    public struct Label: Sendable {
        public var name: String
        /// Its values; code passes the position. Empty if the values are not known in advance.
        public var values: [String]
    }

    /// The name in the Prometheus output.
    public var name: String { Self.rows[rawValue].name }
    /// Whether the value only grows (counter), may fall (gauge), or consists of counts and a sum of durations (histogram).
    public var kind: Kind { Self.rows[rawValue].kind }
    /// One sentence on what is counted.
    public var help: String { Self.rows[rawValue].help }
    /// Its labels: none, one or two of fixed values, or any number of others.
    public var labels: [Label] { Self.rows[rawValue].labels }
    /// Whether all values of its labels are in the table.
    public var isListed: Bool { labels.allSatisfy { !$0.values.isEmpty } }
    /// Whether its cells hold microseconds, which are rendered as seconds.
    public var isMicroseconds: Bool { Self.rows[rawValue].isMicroseconds || kind == .histogram }
    /// The bounds of a histogram in microseconds, in ascending order; empty for other kinds.
    public var bounds: [Int] { Self.rows[rawValue].bounds }

    /// The listeners, in the order in which code numbers them.
    public static let listeners = [
        "app_server", "app_server_preproduction", "device", "https", "admin", "control",
    ]
    /// The values of the label `kind` of sessions.
    public static let sessionKinds = ["app_server", "device"]
    public static let directions = ["downstream", "upstream"]
    /// The milestones of Delivery, in the same order; a test compares them.
    public static let milestones = [
        "accepted", "stored", "sent", "delivered", "replaced", "expired", "refused", "discarded", "removed",
        "forwarded",
    ]
    /// The values of the label `result`.
    public static let results = ["ok", "failed"]
    /// The words of `Refusal`; a test compares them.
    public static let refusalWords = coreRefusalWords + APNsRefusal.Kind.allCases.map(\.rawValue)

    private static let coreRefusalWords = [
        "missing_target", "wrong_type", "out_of_range", "not_allowed", "too_large", "reserved_key",
        "conflict", "repeated_message_id", "bad_ack", "invalid_token", "sender_mismatch", "not_registered",
        "package_mismatch", "sender_suspended", "device_rate_exceeded", "sender_rate_exceeded",
        "topic_rate_exceeded", "unavailable", "store_damaged", "internal_error", "draining",
        "unknown_message", "message_sent", "schedule_full",
    ]

    /// Reasons of refusals: the words of `Refusal`, then those of requests that were refused before they were parsed.
    public static let refusalReasons =
        refusalWords + ["malformed", "unauthorized", "too_many_unauthenticated", "registry_full"]

    /// The first cell of each metric, followed by the total number of cells.
    static let offsets: [Int] = {
        var offsets = [0]
        for metric in allCases { offsets.append((offsets.last ?? 0) + metric.cells) }
        return offsets
    }()

    /// The number of cells: the product of the sizes of the labels; for a histogram, with the cells of each value of its label.
    public var cells: Int { labels.reduce(1) { $0 * $1.values.count } * (histogramCells ?? 1) }

    /// The cells of a histogram for one value of its label: one for each bound, one for what exceeds all, and the sum. Returns `nil`
    /// for other kinds.
    var histogramCells: Int? { kind == .histogram ? bounds.count + 2 : nil }

    /// The first cell.
    @inline(__always)
    var offset: Int { Self.offsets[rawValue] }
}

/// An enum whose cases are the values of a label, in the order in which they are declared.
public protocol LabelWord: CaseIterable, Equatable where AllCases == [Self] {}

extension LabelWord {
    /// The position among all cases, which code passes for the label.
    public var position: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension Refusal {
    /// The position among all refusals, for the label `reason`.
    public var position: Int { Metric.refusalWords.firstIndex(of: word) ?? 0 }
}
