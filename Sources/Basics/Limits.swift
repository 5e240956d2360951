/// Every bound of the server, with its reason.
///
/// A queue, buffer, loop or wait without a line here is a defect.
///
/// Those an operator may change are defaults of config keys of the same name in snake case.
public enum Limits {
    // MARK: Streams of app servers

    /// Bytes of one stanza before login: what ejabberd settled on after attacks.
    public static let stanzaBytesBeforeLogin = 8_192
    /// Bytes of one stanza after login: a payload of 4 KiB, escaped twice, and its envelope.
    public static let stanzaBytes = 65_536
    /// Elements of one stanza before login.
    public static let stanzaElementsBeforeLogin = 32
    /// Elements of one stanza after login.
    public static let stanzaElements = 64
    /// Depth of elements below the stream before login.
    public static let stanzaDepthBeforeLogin = 8
    /// Depth of elements below the stream after login.
    public static let stanzaDepth = 16
    /// Attributes of one element: no client sends more than ten.
    public static let attributesPerElement = 32
    /// Nesting of JSON: real payloads have three levels.
    public static let jsonDepth = 32
    /// Bytes of a whole number that is written with a fraction or an exponent: real ones have under ten.
    public static let wholeNumberBytes = 64
    /// Headers of one stream before its `<auth>`: QXmpp 1.4 sends it twice, once as soon as TCP is up and once after TLS.
    public static let headersBeforeLogin = 3
    /// Seconds from TCP accept to the end of the TLS handshake; absolute, pings do not extend it.
    public static let handshakeDeadlineSeconds = 5
    /// Seconds from the handshake to a finished login; absolute.
    public static let loginDeadlineSeconds = 10
    /// SASL attempts on one connection: more are guesses.
    public static let loginsPerConnection = 3
    /// Tokens of devices that a connection of an app server keeps, of those whose messages it wrote last: 12 KiB.
    public static let tokensKept = 64
    /// Failed logins in a minute of one claimed identity from one address, by listener: a client that was misconfigured tries
    /// less often, and others behind the address are not concerned.
    public static let failedLoginsPerIdentityAndMinute = 30
    /// Failed logins in a minute from one address, by listener, whatever identities are claimed: no company behind one address
    /// has so many, and 50 handshakes a second are no load.
    public static let failedLoginsPerAddressAndMinute = 3_000
    /// Addresses, and identities of them, whose failed logins are remembered: a bound on tables that start anew each minute.
    public static let failedLoginsRemembered = 65_536
    /// Seconds between two log lines about refusals of one address.
    public static let refusalLogSeconds = 60
    /// Bytes of each part of a SASL PLAIN message (RFC 4616).
    public static let credentialBytes = 255
    /// Hash rounds of a key for SCRAM: the least that RFC 7677 allows; server keys are random, and each login pays.
    public static let scramIterations = 4_096
    /// Bytes of the salt of a sender's keys: as many as RFC 7677 shows.
    public static let scramSaltBytes = 16
    /// Bytes of the TLS exporter that bind a login to its channel (RFC 9266).
    public static let channelBindingBytes = 32
    /// Seconds for which the stream of a lost connection can be resumed: an app server is back long before.
    public static let resumptionSeconds = 300
    /// Streams of one sender that wait to be resumed; the oldest is given up.
    public static let resumableStreamsPerSender = 100
    /// Bytes of answers that one stream keeps until they are confirmed; beyond it the stream cannot be resumed.
    public static let unconfirmedBytes = 65_536
    /// Stanzas after which an app server is asked how many it has handled.
    public static let stanzasPerAckRequest = 10
    /// Bytes of a resource (RFC 6120, 7.1).
    public static let resourceBytes = 1_023
    /// Connections of one sender (FCM).
    public static let connectionsPerSender = 1_000
    /// Messages sent and not yet answered, on one connection and in one direction (FCM).
    public static let pendingWindow = 100
    /// Batches of one turn that are refused because a state cannot be: answering the first may find another; more are a loop.
    public static let batchesRefusedPerTurn = 8
    /// Bytes of stanzas read beyond a full window while looking for acks; then reading stops.
    public static let heldBytes = 262_144
    /// Message ids remembered per connection to refuse a repeated one.
    public static let rememberedMessageIDs = 10_000
    /// Milliseconds for answers still owed after an app server has ended its stream: clients wait two seconds.
    public static let farewellMilliseconds: Int64 = 1_000
    /// Bytes of a refused value shown in a NACK: enough to recognise it.
    public static let refusalTextBytes = 64
    /// Bytes of a message id: clients use under 100; it returns in acks and receipts.
    public static let messageIDBytes = 1_024
    /// Seconds of server silence before one space is sent.
    public static let keepaliveSeconds = 60

    // MARK: Messages

    /// Bytes of all keys and values of a message (FCM).
    public static let payloadBytes = 4_096
    /// Bytes of what a message of v1 says for Apple alone: a payload of 4,096, which is all that Apple takes, and its headers.
    public static let apnsOverrideBytes = 8_192
    /// Seconds a downstream message lives at most, and by default: four weeks (FCM).
    public static let lifetimeSeconds = 2_419_200
    /// Messages that one device may be sent in a minute, and at once (FCM).
    public static let deviceMessagesPerMinute = 240
    /// Messages that one device may be sent in an hour (FCM).
    public static let deviceMessagesPerHour = 5_000
    /// Messages with collapse key for one app of one device at once, where they are throttled (FCM).
    public static let collapsibleBurst = 20
    /// Seconds in which one of them comes back (FCM).
    public static let collapsibleRefillSeconds = 180
    /// Upstream messages of one device in a minute, and at once (FCM).
    public static let deviceUpstreamPerMinute = 1_000
    /// Upstream messages to one sender in a minute, and at once (FCM).
    public static let senderUpstreamPerMinute = 1_500_000
    /// Highest rate that may be configured: beyond it there is none.
    public static let highestRate = 100_000_000
    /// Seconds an upstream message lives at most, and by default: one day (FCM).
    public static let upstreamLifetimeSeconds = 86_400
    /// Bytes of a collapse key.
    public static let collapseKeyBytes = 1_024
    /// Collapse keys stored for one app of one device (FCM).
    public static let collapseKeys = 4
    /// Messages without collapse key stored for one app of one device (FCM); the next discards all.
    public static let storedMessages = 100
    /// Upstream messages of one app of one device that wait to be stored (FCM).
    public static let waitingUpstream = 20
    /// Reports of expired upstream messages that wait for one device: five apps with all they may have under way. Beyond it the
    /// oldest goes.
    public static let sendErrorsPerDevice = 100
    /// Pairs of one upstream message: the payload counts keys and values alone, and empty ones have none.
    public static let upstreamPairs = 1_024
    /// Upstream messages kept for one sender: a day at a steady 10 a second; beyond it devices are refused.
    public static let storedUpstreamPerSender = 1_000_000
    /// Seconds after which a receipt that nobody acknowledged leaves the window: most clients never ack one.
    public static let receiptSettleSeconds = 30
    /// Milliseconds for which an upstream message without lifetime may wait to be written: that is still now.
    public static let promptMilliseconds: Int64 = 1_000
    /// Seconds for which upstream messages are remembered, to drop what a device repeats.
    public static let upstreamMemorySeconds = 86_400

    // MARK: Devices

    /// Bytes of one MCS frame.
    public static let frameBytes = 65_536
    /// Bytes of a record of an encrypted message before its encryption: the usual size, which old clients take for granted.
    public static let webPushRecordBytes = 4_096
    /// Draws of a private key: one in four thousand million is none, so a source that gives none so often is broken.
    public static let keyDraws = 4
    /// Registrations of one device.
    public static let registrationsPerDevice = 512
    /// Bytes of an app's name (category), subtype or instance in a registration.
    public static let registrationFieldBytes = 512
    /// Senders that one registration may name (FCM).
    public static let sendersPerRegistration = 100
    /// Senders that may send to one app of one device, over all of its registrations (FCM).
    public static let sendersPerApp = 100
    /// Bytes of the sender string of a registration: so many numbers of 19 digits, with commas.
    public static let senderTextBytes = 2_048
    /// Registrations with keys that were made from one web push endpoint: a web app has one, and a few that it replaced; a
    /// client that knows the endpoint can make others.
    public static let registrationsPerEndpoint = 8
    /// Registrations of one app instance that newer ones have replaced and that still work; older ones go.
    public static let replacedRegistrations = 2
    /// Seconds for which a replaced registration works: as long as a message may live.
    public static let replacedRegistrationSeconds = 2_419_200
    /// Messages sent on one connection and not acknowledged; beyond it the device is asked to come again
    /// with its list of received ids, since some clients acknowledge only at login.
    public static let unacknowledgedPerDevice = 1_000
    /// Stored messages read at once for a device that has just logged in.
    public static let mailboxPage = 100
    /// Seconds without a frame before a device is pinged.
    public static let devicePingSeconds = 600
    /// Shortest ping interval that a device may ask for, in seconds.
    public static let devicePingFloorSeconds = 60
    /// Seconds without a frame, after a ping was answered once, before a device is taken for dead.
    public static let deviceSilenceSeconds = 1_500
    /// Unacknowledged upstream frames after which a stream ack is sent unasked (mcs-device 3.4).
    public static let framesBeforeStreamAck = 10
    /// Upstream messages of one device, over all its apps, that wait to be stored.
    public static let waitingUpstreamPerDevice = 100
    /// Milliseconds for which a stream ack may wait for the upstream messages still on their way to the disk.
    public static let streamAckDelayMilliseconds: Int64 = 20
    /// Seconds after which a device whose upstream message could not be stored is asked to come again and repeat it.
    public static let upstreamRetrySeconds = 60
    /// Devices whose state is kept in memory while they are offline.
    public static let idleDevicesInMemory = 100_000
    /// Of these, how many may be such that only a message to a topic has met: a million subscribers must not take the place of
    /// devices that something happens to. What is left of their rates goes with them.
    public static let passingDevicesInMemory = 4_096
    /// Events that wait for the state of one device to be loaded.
    public static let eventsWaitingForDevice = 1_000

    /// Seconds after which a login renews the time a device was last seen: a write per login would buy nothing.
    public static let seenGranularitySeconds = 3_600
    /// The same for the end of a connection: a fleet that loses its network writes once a day at most.
    public static let seenAtCloseSeconds = 86_400
    /// Seconds without contact after which a device is forgotten (FCM: 270 days).
    public static let deviceExpirySeconds = 23_328_000
    /// Devices whose last contact the store could not be told yet: as many as are connected to a large server,
    /// and 160 KiB.
    public static let unwrittenContacts = 10_000
    /// How many of those are tried again at each tick: a store that fails is not asked for more than a little.
    public static let contactsPerTick = 50
    /// Records of devices looked at in one search for those that have been away for too long.
    public static let devicesPerSweep = 500
    /// Devices forgotten after one such search: each may take hundreds of messages with it.
    public static let expiredDevicesPerSweep = 50
    /// Milliseconds between two such searches, whichever partition's turn it is: ten million devices are gone through in six hours.
    public static let deviceSweepMilliseconds = 1_000
    /// Seconds from the end of one round over all devices to the next.
    public static let deviceSweepRestSeconds = 3_600

    // MARK: Connections

    /// Connections accepted in one turn of a reactor, so that a storm does not starve those that are open.
    public static let acceptsPerTurn = 64
    /// Bytes read from one connection in one turn, for the same reason.
    public static let readBytesPerTurn = 262_144
    /// Bytes of upstream stanzas written to an app server at once: half of what may wait, as answers need room too.
    public static let upstreamBytesAtOnce = 524_288
    /// Outbound bytes of one connection that wait for the peer.
    public static let outboundBytes = 1_048_576
    /// Waiting outbound bytes under which a congested connection is ready again.
    public static let outboundLowBytes = 65_536
    /// Seconds that outbound bytes may wait without one leaving.
    public static let writeDeadlineSeconds = 30
    /// Milliseconds that a closed connection waits for the peer's end, so that our last bytes are not reset away.
    public static let lingerMilliseconds = 2_000
    /// Milliseconds for which a listener rests when there is no descriptor for a new connection.
    public static let acceptRestMilliseconds = 100
    /// Bytes of an outbox up to which a busy connection keeps its memory from turn to turn.
    public static let warmOutboxBytes = 16_384
    /// Milliseconds without sending after which that memory is given back.
    public static let warmMilliseconds: Int64 = 500
    /// Bytes of a certificate chain or key file: the longest real chains have 20 KiB.
    public static let smallFileBytes = 1_048_576
    /// Seconds between two looks at whether the certificate files have changed.
    public static let certificateCheckSeconds = 10
    /// Bytes that malloc calls free before they go back to the system: less is soon used again.
    public static let freeMemoryBytes = 16_777_216
    /// Bytes by which resident memory has grown since the last time before free ones go back again: as many as may be free, so
    /// that each storm finds them given back, and what was given back long ago is not taken for free.
    public static let grownMemoryBytes = freeMemoryBytes
    /// Seconds for which one key seals TLS session tickets.
    public static let ticketKeySeconds = 86_400
    /// Days before its end at which a certificate of our own making is renewed, and one from elsewhere is warned of.
    public static let certificateRenewalDays = 30
    /// Descriptors whose readiness is taken from the kernel at once.
    public static let readinessPerTurn = 512
    /// Connections that the kernel holds for a listener until we accept them: a reconnect storm of one second.
    public static let acceptBacklog = 4_096
    /// Seconds from the first packet to the end of the TLS handshake of a connection that we open.
    public static let connectDeadlineSeconds = 10
    /// Seconds of silence after which the kernel asks whether the peer's machine still lives.
    public static let tcpKeepaliveSeconds = 300
    /// Seconds for which sent data may stay unacknowledged by the peer's kernel: it is dead then.
    public static let peerSilenceSeconds = 60
    /// Timers that our own code may set on one reactor, beside the one of each connection.
    public static let timersPerReactor = 65_536
    /// Connections from one address, or one IPv6 network, that have not logged in, by listener and reactor: a reconnect storm
    /// behind one address has fewer at a time, as a login takes milliseconds. Each costs memory for a TLS handshake.
    public static let anonymousPerAddress = 1_000
    /// Bytes of a PROXY header of version 1, as its specification has it.
    public static let proxyHeaderV1Bytes = 107
    /// Bytes of a PROXY header of version 2: 16, and 536 for addresses and what proxies add, which is more than any adds now.
    public static let proxyHeaderV2Bytes = 552
    /// Events and commands that wait for another reactor.
    public static let mailboxOfReactor = 262_144

    /// Descriptors that connections leave to the store (its sorted files and logs), to listeners and to the control socket:
    /// a store that can open no file takes no writes, and strangers must not bring that about.
    public static let descriptorsKept = 768
    /// Descriptors that no connection takes whatever the limit has become since the start, and whatever else is open: a change of
    /// the store's log, the sorted file that it ends in, and a compaction.
    public static let descriptorsSpared = 64

    // MARK: Store

    /// Writes in one commit: bounds the memory of a commit and the time of one sync.
    public static let writesPerCommit = 16_384
    /// Writes that wait for the store before submissions are refused with SERVICE_UNAVAILABLE.
    public static let waitingWrites = 262_144
    /// Expired messages removed in one sweep.
    public static let expiredPerSweep = 10_000
    /// Milliseconds between sweeps: expiry is on time within a second.
    public static let sweepMilliseconds = 500
    /// Milliseconds for which changes that nobody waits for may wait to ride with a durable commit.
    public static let lazyCommitMilliseconds = 50
    /// Milliseconds between attempts while the store fails: enough not to turn a full disk into a busy loop.
    public static let storeRetryMilliseconds = 100
    /// Milliseconds by which the mark of sequences on disk is ahead of those that are used: fifty writes a second at most, and
    /// less than any process takes to start, so that no number of restarts drives the sequences ahead of the clock.
    public static let sequenceLeaseMilliseconds = 20
    /// Questions that wait for the store; each login asks two.
    public static let waitingLoads = 65_536
    /// Questions that the store answers in one go: they share what reading costs to begin, and the first answer waits for the
    /// last, a few milliseconds.
    public static let loadsPerRound = 256
    /// Names of unreadable records that one audit lists.
    public static let unreadableNames = 1_000
    /// Bytes of the cache of uncompressed blocks, which index and filter blocks share.
    public static let storeCacheBytes = 67_108_864
    /// Bytes gathered in memory, over all families, before they are written as sorted files.
    public static let storeWriteBuffersBytes = 67_108_864
    /// Bytes of one family in memory that the engine would not exceed by itself: more than an opening brings at once, so that it
    /// never does.
    public static let storeFamilyBytes = 1_073_741_824
    /// Bytes of one file of the journal before the next one is begun: each costs a sync of the folder.
    public static let journalSegmentBytes = 8_388_608
    /// Bytes of the journal whose messages are kept in memory: what is delivered by then never reaches the engine. About half a
    /// second at full load, and what an opening has to bring to the engine at most.
    public static let journalYoungBytes = 25_165_824
    /// Mailboxes in memory that may hold nothing, or as many as hold something, before the empty ones go: most owners get their
    /// next message soon. An empty one costs 100 bytes and the storage that it keeps.
    public static let keptMailboxes = 1_024
    /// Messages for which an emptied mailbox keeps storage (40 bytes each): as many as most ever have at once.
    public static let keptMailboxSlots = 64
    /// Bytes of the journal after which the engine is asked to write out what it has, so that old files can go; at twice as many
    /// commits wait for it. Bounds what an opening reads.
    public static let journalBytes = 67_108_864
    /// Repeats of upstream messages that one commit ceases to keep in memory, once they are in sorted files: more than one commit
    /// brings on the average, few enough that none waits for it.
    public static let forgottenPerCommit = 4_096
    /// Bytes of a file of the journal that is read back: a segment, and the largest commit behind it.
    public static let journalFileBytes = 1_073_741_824
    /// Sorted files that the store keeps open.
    public static let storeOpenFiles = 512
    /// Bytes of the engine's list of files in which a torn end is looked for; usual are some tens of thousands.
    public static let storeListBytes = 67_108_864
    /// Bytes at the end of that list which a power cut may have torn: the engine writes fewer before it syncs them, one
    /// change for each family that it writes out.
    public static let tornListBytes = 16_384
    /// Bytes that must be free on the device before the store is opened: opening writes out what the logs hold.
    public static let storeRoomBytes = 16_777_216
    /// Threads that the engine compacts with: one core is left to the connections.
    public static let storeBackgroundJobs = 2

    // MARK: Ending

    /// Seconds between the draining notice and the first close.
    public static let drainGraceSeconds = 10
    /// Seconds over which the closes of a drain are spread, jittered: no reconnect storm.
    public static let drainSpreadSeconds = 120
    /// Milliseconds without a message from a drained app server after which one that owes and is owed nothing has had its
    /// chance: an answer from far away takes less.
    public static let drainQuietMilliseconds: Int64 = 2_000
    /// Seconds that a process given SIGTERM takes at most before it ends all the same.
    public static let shutdownSeconds = 30

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
    public static let shutdownSlackSeconds = 10
    /// Seconds that a start which a wrong configuration or command line refuses takes where systemd holds the sockets: it
    /// starts ccsd again for every connection that waits, at once, and gives up the sockets after 20 starts in 2 seconds.
    public static let refusedStartSeconds = 5
    /// Milliseconds between two ticks of the core: half of the longest that an expiry may be late.
    public static let tickMilliseconds: Int64 = 250
}
