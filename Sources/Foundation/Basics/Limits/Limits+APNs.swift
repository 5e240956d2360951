extension Limits {
    /// Limits of the APNs gateway.
    public enum APNs {
        /// Bytes of a payload (apns 1.2).
        public static let payloadBytes = 4_096
        /// Bytes of the payload of a VoIP push (apns 1.2).
        public static let voipPayloadBytes = 5_120
        /// Milliseconds that a submission waits for Apple's verdict; then it is answered by what is known (apns 4.1).
        public static let verdictMilliseconds: Int64 = 5_000
        /// Submissions that wait for a verdict: at 5 s each, 20,000 a second. Beyond it, stored ones are answered at once.
        public static let waitingVerdicts = 100_000
        /// Now-or-never messages of one registration that wait for an earlier one: the window of one app server.
        public static let waitingUnstored = 100
        /// Milliseconds after which an accepted message is offered again whose credential was not usable.
        public static let credentialRetryMilliseconds: Int64 = 60_000
        /// Milliseconds after which a message is offered again whose token Apple calls dead since before the app reported it.
        public static let renewedRetryMilliseconds: Int64 = 1_000
        /// Milliseconds within which a second `BadDeviceToken` ends a registration: a day (apns 4.2).
        public static let unknownWithinMilliseconds: Int64 = 86_400_000
        /// Milliseconds after which `DeviceTokenNotForTopic` ends a registration: a week (apns 4.2).
        public static let mismatchedMilliseconds: Int64 = 604_800_000
        /// Milliseconds after which a device token that an app reports again is recorded again: an hour, as apps report it at each
        /// start.
        public static let confirmedEveryMilliseconds: Int64 = 3_600_000
        /// Marked devices read at once after a start: each is loaded, which costs as much as a login.
        public static let devicesPerSearch = 100
        /// Milliseconds for which the feedback list shows an entry: 30 days (apns 2.3).
        public static let feedbackMilliseconds: Int64 = 30 * 86_400_000
        /// Bytes of a position in the feedback list: a time, a device and a registration in decimal digits.
        public static let feedbackPositionBytes = 60
        /// Entries of the feedback list in one page (apns 2.3).
        public static let feedbackPerPage = 1_000
        /// Bytes of `apns-collapse-id` (apns 1.2).
        public static let collapseIDBytes = 64
        /// Seconds that APNs keeps a message of HTTP v1 that names no expiration: 30 days (apns 3.3).
        public static let lifetimeSeconds = 2_592_000
        /// Bytes written to one connection in one turn.
        public static let writeBytes = 65_536
        /// Seconds after which a connection whose bytes are not acknowledged is dead.
        public static let silenceSeconds = 20
        /// Seconds that a shutdown waits for Apple's answers.
        public static let drainSeconds = 10
        /// Seconds that a self-test waits for Apple's answers.
        public static let selfTestSeconds = 20
    }
}

extension Limits {
    /// Limits of the credentials for APNs.
    public enum APNsCredentials {
        /// Credentials that are kept: an operator of hundreds of apps has one certificate or key for each.
        public static let count = 1_000
        /// Bytes of a certificate, archive or key: two of them, as Base64, fit into one control request.
        public static let fileBytes = 20_480
        /// Bytes of a stored credential: certificates and key as PEM, in JSON.
        public static let storedBytes = 65_536
        /// Bytes of the password of an archive or key.
        public static let passwordBytes = 255
        /// Iterations of all password-based keys of one file: a file must not occupy a processor for more than seconds.
        public static let passwordIterations = 5_000_000
        /// Bytes of the ID of an app: Apple allows 155 characters, and further ones are for the suffix of a topic.
        public static let bundleBytes = 1...255
        /// Characters of a key ID and of a team ID, fixed by Apple.
        public static let identifierBytes = 10
        /// Days before the expiry of a certificate at which a warning is logged.
        public static let warningDays = [30, 14, 7, 1]
    }
}

extension Limits {
    /// Limits of the scheduling of requests to APNs.
    public enum APNsGateway {
        /// Deliveries that the gateway holds, waiting or in flight: a second of work for one connection at Apple's usual speed, and
        /// 80 MiB if all have the largest payload. The core keeps the others.
        public static let queuedRequests = 20_000
        /// Seconds that a delivery waits for a stream: then Apple has throttled the connection, and the core waits instead.
        public static let queueSeconds = 30
        /// Connections of one credential in one environment: more than 16 gained others little (apns 1.8).
        public static let connections = 8
        /// Percent of the streams of every connection that must be busy before one more is opened.
        public static let growthPercent = 75
        /// Milliseconds for which they must be busy: a burst alone passes sooner.
        public static let growthMilliseconds: Int64 = 200
        /// Percent of all streams under which a connection is closed again.
        public static let shrinkPercent = 25
        /// Seconds for which that few must be busy: Apple takes frequent connecting for an attack.
        public static let shrinkSeconds = 600
        /// Connections that are left then.
        public static let connectionsAfterShrinking = 2
        /// Milliseconds until the second attempt to connect; the wait doubles with each failure.
        public static let connectMilliseconds: Int64 = 1_000
        /// Milliseconds between attempts to connect at most.
        public static let longestConnectMilliseconds: Int64 = 60_000
        /// Connections of one pool that may be opened in a row, even if all work: Apple blocks those who connect too often.
        public static let connectBurst = 16
        /// Seconds in which all of those are allowed again.
        public static let connectBurstSeconds = 160
        /// Seconds that a connection may take to open: name, TCP and TLS each have a few.
        public static let openSeconds = 30
        /// Seconds after which a connection is replaced by a new one, so that no state of it gets old.
        public static let rotationSeconds = 86_400
        /// Requests after which a connection is replaced: half of its stream IDs.
        public static let rotationRequests = 1 << 29
        /// Seconds that a connection which accepts no more requests may take to answer the last ones.
        public static let leavingSeconds = 10
        /// Times that one request is sent again at once, because Apple has certainly not processed it.
        public static let resends = 5
        /// Seconds after which a provider token is replaced at the next request: Apple refuses it after 3,600.
        public static let tokenRefreshSeconds = 2_700
        /// Seconds for which an old provider token is used while its successor is being signed.
        public static let tokenSeconds = 3_000
        /// Seconds under which Apple refuses a new provider token as too early (apns 1.4).
        public static let tokenLeastSeconds = 1_200
        /// Seconds after which the request for a provider token is repeated: signing takes under a millisecond.
        public static let mintSeconds = 60
        /// Seconds by which the wall clock may move against the monotonic one before the time in a provider token is doubted.
        public static let clockStepSeconds = 300
        /// Seconds until a credential that Apple refuses is tried again; the wait doubles with each refusal.
        public static let probeSeconds = 60
        /// Seconds between such attempts at most.
        public static let longestProbeSeconds = 3_600
        /// The same while the clock of this server is the likely cause: after 20 minutes the next request has a new provider token.
        public static let longestClockProbeSeconds = 240
        /// Seconds of failures after which an environment is no longer asked about a device token that the other one refuses: a
        /// firewall or a key may permit one environment only, and then bad tokens must end all the same.
        public static let hopelessSeconds = 3_600
        /// Seconds after its last failure for which an environment counts as failing, unless a request is accepted: more than the longest wait
        /// of a message for its next attempt.
        public static let failureSeconds = 1_200
        /// Topics of one credential that are recorded as refused: more than an operator can have.
        public static let refusedTopics = 1_024
        /// Apps whose credential is remembered, and apps whose device tokens are counted: more than one team has.
        public static let apps = 1_024
        /// Device tokens of one app that are counted, as a sample beyond that number.
        public static let countedTokens = 4_096
        /// Seconds for which a device token is counted (apns 4.2).
        public static let countedSeconds = 600
        /// Device tokens under which their share of bad ones shows nothing.
        public static let fewestTokens = 50
        /// Percent of bad device tokens over which the environment or the topic must be wrong, not the tokens.
        public static let badPercent = 20
        /// Percent of bad device tokens under which an app is believed again.
        public static let goodPercent = 10
        /// Seconds for which an app is distrusted after the last alarm: a day, in which a registration would end.
        public static let distrustSeconds = 86_400
        /// Bytes of a body that are searched for a reason: Apple's have under 100.
        public static let reasonBytes = 1_024
        /// Characters of a reason that are kept.
        public static let reasonCharacters = 64
        /// Milliseconds between two ticks while deliveries are unanswered: half of `growthMilliseconds`.
        public static let tickMilliseconds: Int64 = 100
        /// Milliseconds between two ticks otherwise.
        public static let idleTickMilliseconds: Int64 = 10_000
        /// Milliseconds after which a delivery that was not attempted is offered again.
        public static let laterMilliseconds: Int64 = 1_000
    }
}
