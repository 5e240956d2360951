import Basics

extension ConfigKey {
    /// Files, addresses, ports and TLS.
    static let endpoints: [ConfigKey: Entry] = [
        .format: Entry(
            type: .integer(1...1), preset: .integer(1),
            help: "Version of this file's format; required.",
            reason: "Defaults change only with the format, so an upgrade never changes the meaning of a file."
        ),
        .dataDirectory: Entry(
            type: .path, preset: .text("./ccs-data"),
            help: "Directory of the store and of all files that ccsd creates.",
            reason: "It is created with mode 0700 if it is missing; everything to back up is in it."),
        .listenAddress: Entry(
            type: .address, preset: .text("127.0.0.1"),
            help:
                "Address that the four public ports listen on, and the port for other nodes of a cluster, unless it is loopback and they are elsewhere.",
            reason:
                "Loopback by default: a server that is not set up yet cannot be reached from outside. \"::\" listens on all IPv6 and IPv4 addresses."
        ),
        .appServerPort: Entry(
            type: .port, preset: .integer(5_235),
            help: "Port of app servers (XMPP over TLS); 0 picks a free one.",
            reason: "The production port of CCS."),
        .appServerPreproductionPort: Entry(
            type: .port, preset: .integer(5_236), help: "Second port of app servers; 0 picks a free one.",
            reason: "The pre-production port of CCS: metrics count app servers under test separately."),
        .devicePort: Entry(
            type: .port, preset: .integer(5_228), help: "Port of devices (MCS over TLS); 0 picks a free one.",
            reason: "The port that is built into clients."),
        .httpsPort: Entry(
            type: .port, preset: .integer(8_443),
            help: "Port of check-in, registration and the HTTP interfaces (HTTPS); 0 picks a free one.",
            reason:
                "Clients connect to 443, a privileged port: let the systemd socket unit listen on it, or redirect it to this port."
        ),
        .adminPort: Entry(
            type: .portOrOff, preset: .text("off"),
            help:
                "Port of /healthz, /readyz, /metrics and the operator API on admin_address; 0 picks a free one, off disables it.",
            reason: "Its pages have no authentication, so it is off by default."),
        .adminAddress: Entry(
            type: .address, preset: .text("127.0.0.1"),
            help:
                "Address that admin_port listens on; outside of loopback only with admin_plain_http, or with operator_api and admin_tls.",
            reason:
                "For scrapes and probes from another machine: an address of a private network, or a container's \"::\"."
        ),
        .adminPlainHTTP: Entry(
            type: .boolean, preset: .boolean(false),
            help: "Whether admin_port may serve other machines, without TLS and authentication.",
            reason:
                "Every machine that reaches the port can read the metrics with sender IDs, and every router on the way as well: set it only if a firewall lets in the monitoring alone."
        ),
        .adminTLS: Entry(
            type: .boolean, preset: .boolean(false),
            help: "Whether admin_port has TLS, with the certificate of the other ports.",
            reason:
                "On loopback, scrapes and probes need no TLS. Other machines reach the operator API only with it."
        ),
        .operatorAPI: Entry(
            type: .boolean, preset: .boolean(false),
            help: "Whether admin_port serves the operator API at /operator/v1, for operators with a token.",
            reason:
                "Without it only the control socket accepts commands. ccsctl operators add creates tokens. On an address outside of loopback it needs admin_tls, and /metrics then needs a token as well."
        ),
        .certificateFile: Entry(
            type: .path, preset: .text(""),
            help:
                "PEM file of the certificate and its chain; empty: ccsd creates its own CA and certificate.",
            reason: "ccsd reads it again at SIGHUP and when it changes, so a renewal needs no restart.",
            isReloadable: true),
        .keyFile: Entry(
            type: .path, preset: .text(""), help: "PEM file of the private key of certificate_file.",
            reason: "It should be readable by ccsd alone.", isReloadable: true),
        .hostNames: Entry(
            type: .hostNames, preset: .list([]),
            help:
                "Additional host names for the certificate that ccsd creates, and that admin_port answers to.",
            reason:
                "The names that clients expect are always included, as are listen_address and admin_address. With certificate_file, which has its own names, they matter to admin_port alone: it answers to loopback, admin_address, the name of the machine and these names, so that a page of another site cannot read it under a name of its own (DNS rebinding)."
        ),
        .advertisedHost: Entry(
            type: .hostName, preset: .text(""),
            help:
                "Host name of this server that check-in sends to browsers, to register at and connect to; empty sends none.",
            reason:
                "With it a browser needs only the check-in URL. It keeps the name until a later check-in sends another one.",
            isReloadable: true),
        .advertisedHTTPSPort: Entry(
            type: .integer(1...65_535), preset: .integer(443),
            help: "Public port of check-in and registration, sent with advertised_host.",
            reason: "Clients connect to 443, which a proxy or redirection in front may map to https_port.",
            isReloadable: true),
        .advertisedDevicePort: Entry(
            type: .integer(1...65_535), preset: .integer(5_228),
            help: "Public port of devices, sent with advertised_host.",
            reason: "It differs from device_port behind a proxy or a redirection.", isReloadable: true),
        .tlsMinimum: Entry(
            type: .choice(["1.0", "1.1", "1.2", "1.3"]), preset: .text("1.2"),
            help:
                "Oldest version of TLS that is accepted from app servers, devices and HTTPS clients.",
            reason:
                "Old Android devices and Java app servers support no more than 1.2. RFC 8996 deprecates 1.0 and 1.1: choose them only for clients without anything newer, since they allow weak ciphers and SHA-1 for every client that asks for them. It applies to admin_port with admin_tls as well.",
            isReloadable: true),
        .controlSocket: Entry(
            type: .path, preset: .text(""),
            help: "UNIX socket for ccsctl; empty: control.sock in data_directory.",
            reason: "A process that can open it can run every command, so it has mode 0600."),
    ]

    /// Threads, log, timeouts and shutdown.
    static let runtime: [ConfigKey: Entry] = [
        .reactors: Entry(
            type: .integer(0...256), preset: .integer(0), unit: "threads",
            help: "Threads that serve connections; 0 starts one per core.",
            reason: "One per core is best unless the machine is shared."),
        .storePartitions: Entry(
            type: .integer(0...Limits.Partition.maximumCount), preset: .integer(0), unit: "partitions",
            help:
                "Number of partitions of a new store; 0: \(Limits.Partition.count) for a new store, any number for an existing one.",
            reason:
                "The threads share the partitions: four per processor are enough. A store keeps the number that it was created with; ccsd does not start if another one is set here."
        ),
        .logLevel: Entry(
            type: .choice(Log.Level.allCases.map(\.word)), preset: .text("info"),
            help: "Lowest level that is logged.", reason: "debug logs every connection: thousands of lines.",
            isReloadable: true),
        .logFormat: Entry(
            type: .choice(Log.Format.allCases.map(\.rawValue)), preset: .text("text"),
            help: "Format of log lines: key=value text, or one JSON object per line.",
            reason: "Text for people and grep, JSON for log collectors."),
        .drainGraceSeconds: Entry(
            type: .integer(0...3_600), preset: .integer(Limits.Shutdown.drainGraceSeconds), unit: "seconds",
            help: "Time between the CONNECTION_DRAINING message and the first close.",
            reason: "App servers open a new connection in this time; acks on the old one still count.",
            isReloadable: true),
        .drainSpreadSeconds: Entry(
            type: .integer(0...3_600), preset: .integer(Limits.Shutdown.drainSpreadSeconds), unit: "seconds",
            help: "Time over which a drain spreads its closes at random.",
            reason: "App servers closed all at once would reconnect all at once.", isReloadable: true),
        .shutdownSeconds: Entry(
            type: .integer(1...3_600), preset: .integer(Limits.Shutdown.seconds), unit: "seconds",
            help: "Maximum time of a shutdown, drain included.",
            reason: "It must be below TimeoutStopSec of the systemd unit.", isReloadable: true),
        .keepaliveSeconds: Entry(
            type: .integer(5...1_800), preset: .integer(Limits.AppServer.keepaliveSeconds), unit: "seconds",
            help: "Idle time after which ccsd sends an app server a single space.",
            reason: "NATs and firewalls drop connections that are idle for minutes.", isReloadable: true),
        .devicePingSeconds: Entry(
            type: .integer(Limits.Device.shortestPingSeconds...3_000),
            preset: .integer(Limits.Device.pingSeconds),
            unit: "seconds", help: "Idle time after which ccsd pings a device.",
            reason:
                "A shorter time finds dead links sooner but costs battery; a client gives up after an hour.",
            isReloadable: true),
        .deviceHeartbeatSeconds: Entry(
            type: .integer(0...7_200), preset: .integer(0), unit: "seconds",
            help: "Heartbeat interval that ccsd asks devices to use; 0 leaves them their own.",
            reason: "Chromium obeys; its own interval is 15 to 28 minutes. Other clients ignore it.",
            isReloadable: true),
        .deviceExpirySeconds: Entry(
            type: .integer(0...1_000_000_000), preset: .integer(Limits.Device.expirySeconds), unit: "seconds",
            help: "Time without contact after which a device and its tokens expire; 0 disables expiry.",
            reason:
                "FCM has \(Limits.Device.expirySeconds / 86_400) days. The device's pending messages are removed with it, and app servers get DEVICE_UNREGISTERED for its tokens. A connected device never expires, nor does an app with an Apple token. A Firebase installation expires too if its refresh token is not used for this time; one without registrations expires after two weeks.",
            isReloadable: true),
        .clockGraceSeconds: Entry(
            type: .integer(0...31_536_000), preset: .integer(Limits.Clock.graceSeconds), unit: "seconds",
            help:
                "Uptime after which a doubtful clock is trusted; 0: only after ccsctl clock accept.",
            reason:
                "A clock more than three days ahead of the last run, or more than a minute behind it, could expire devices and messages by mistake: until the clock is trusted, nothing expires. A clock that jumps by more than three days while ccsd runs is followed after this time as well, one that jumps by less after ten minutes. See ccsctl clock show.",
            isReloadable: true),
        .loginDeadlineSeconds: Entry(
            type: .integer(1...300), preset: .integer(Limits.Login.deadlineSeconds), unit: "seconds",
            help: "Time from the end of the TLS handshake to the end of the login.",
            reason:
                "An absolute deadline that traffic does not extend, so a peer cannot occupy a connection without a login.",
            isReloadable: true),
    ]

    /// Protocol options, for clients that differ from the spec or from each other.
    static let protocols: [ConfigKey: Entry] = [
        .pendingWindow: Entry(
            type: .integer(1...10_000), preset: .integer(Limits.AppServer.pendingWindow), unit: "messages",
            help: "Messages sent but not yet acknowledged on one app server connection, in each direction.",
            reason: "FCM has \(Limits.AppServer.pendingWindow), and app servers rely on it.",
            isReloadable: true),
        .strictAcks: Entry(
            type: .boolean, preset: .boolean(false),
            help: "Answer an ack for a message that was not sent over that connection with BAD_ACK.",
            reason:
                "CCS did; most libraries end the stream on it, so by default such an ack is ignored and counted.",
            isReloadable: true),
        .controlMessageID: Entry(
            type: .boolean, preset: .boolean(false), help: "Add a message_id to control messages.",
            reason: "CCS sent none; two old client libraries fail without it.", isReloadable: true),
        .lenientTimeToLive: Entry(
            type: .boolean, preset: .boolean(false), help: "Accept time_to_live as text (\"300\").",
            reason: "CCS refused it; some app servers send it nevertheless.", isReloadable: true),
        .reserveGCMPrefix: Entry(
            type: .boolean, preset: .boolean(false),
            help:
                "Refuse all data keys that begin with gcm, not only those that begin with gcm. (with the dot).",
            reason: "Google's documentation of different years disagrees.", isReloadable: true),
        .strictConditions: Entry(
            type: .boolean, preset: .boolean(false),
            help: "Refuse conditions with more than two operators over XMPP and legacy HTTP.",
            reason:
                "The legacy reference allows two operators, that is three topics. HTTP v1 allows five topics, and so does ccsd by default in all interfaces.",
            isReloadable: true),
        .topicPayloadBytes: Entry(
            type: .integer(Limits.Topic.payloadBytes...Limits.Message.payloadBytes),
            preset: .integer(Limits.Topic.payloadBytes), unit: "bytes",
            help: "Maximum size of the keys and values of a message to a topic or condition.",
            reason: "FCM has \(Limits.Topic.payloadBytes), half of what it allows for other messages.",
            isReloadable: true),
        .scram: Entry(
            type: .boolean, preset: .boolean(false),
            help:
                "Offer app servers SCRAM-SHA-256 and, where TLS supports channel binding, SCRAM-SHA-256-PLUS.",
            reason: "CCS offered only PLAIN, and libraries that see SCRAM choose it and log in differently.",
            isReloadable: true),
        .streamManagement: Entry(
            type: .boolean, preset: .boolean(false),
            help: "Offer app servers stream management (XEP-0198), so that a lost connection can be resumed.",
            reason:
                "CCS did not offer it, and libraries that see it use it, with acknowledgements of their own.",
            isReloadable: true),
        .idleNotifications: Entry(
            type: .boolean, preset: .boolean(false),
            help:
                "Ask devices whether they are idle, and delay messages with delay_while_idle until they are active.",
            reason:
                "FCM has ignored delay_while_idle since 2016, so this is off: every connected device counts as active. Only devices that log in as android-… or as chrome-… above 63 are asked, because libraries that log in as chrome-63 fail on the request.",
            isReloadable: true),
        .corsOrigins: Entry(
            type: .origins, preset: .list(["*"]),
            help:
                "Origins of the web pages that may call the services for devices and web push; [] permits none.",
            reason:
                "Google permits all, and the Firebase SDK for web apps needs it: a page is judged by the tokens that it presents, never by cookies. The interfaces for app servers are open to no page, because their keys and service accounts belong in no page.",
            isReloadable: true),
    ]
}
