import Basics

extension ConfigKey {
    /// Where things are and listen.
    static let places: [ConfigKey: Entry] = [
        .format: Entry(
            type: .integer(1...1), preset: .integer(1),
            help: "Version of this file's format; it must be there.",
            reason: "A default changes only with the format, so an upgrade never changes what a file means."),
        .dataDirectory: Entry(
            type: .path, preset: .text("./ccs-data"),
            help: "Directory of the store and of the files ccsd makes.",
            reason: "It is made with mode 0700 where it is missing; everything that must be kept is in it."),
        .listenAddress: Entry(
            type: .address, preset: .text("127.0.0.1"), help: "Address that the four public ports listen on.",
            reason:
                "Loopback first: nobody else can reach a server that is not set up. \"::\" serves all of IPv6 and IPv4."
        ),
        .appServerPort: Entry(
            type: .port, preset: .integer(5_235),
            help: "Port of app servers (XMPP on TLS); 0 takes any free one.",
            reason: "The production port of CCS."),
        .appServerPreproductionPort: Entry(
            type: .port, preset: .integer(5_236), help: "Second port of app servers; 0 takes any free one.",
            reason: "The pre-production port of CCS: app servers under test stay apart in the figures."),
        .devicePort: Entry(
            type: .port, preset: .integer(5_228), help: "Port of devices (MCS on TLS); 0 takes any free one.",
            reason: "The port that clients have built in."),
        .httpsPort: Entry(
            type: .port, preset: .integer(8_443),
            help: "Port of check-in and registration (HTTPS); 0 takes any free one.",
            reason:
                "Clients ask on 443, which needs a privilege: give it to the socket unit, or redirect it to this port."
        ),
        .adminPort: Entry(
            type: .port, preset: .integer(0),
            help: "Port of /healthz, /readyz and /metrics (plain HTTP, always on loopback); 0 means off.",
            reason: "It has no authentication, so it is off until asked for and never leaves the machine."),
        .certificateFile: Entry(
            type: .path, preset: .text(""),
            help: "PEM file of the certificate and its chain; empty: ccsd makes its own CA and certificate.",
            reason: "It is read again at SIGHUP and when it changes, so renewal needs no restart.",
            isReloadable: true),
        .keyFile: Entry(
            type: .path, preset: .text(""), help: "PEM file of the private key of certificate_file.",
            reason: "It should be readable by ccsd alone.", isReloadable: true),
        .hostNames: Entry(
            type: .hostNames, preset: .list([]),
            help: "More names for the certificate that ccsd makes, besides those that clients expect.",
            reason: "Not used with certificate_file: that one says its own names."),
        .advertisedHost: Entry(
            type: .hostName, preset: .text(""),
            help:
                "Name of this server that check-in tells browsers to register at and connect to; empty: none.",
            reason:
                "With it a browser needs to be given the check-in URL alone. It keeps what it was told until a check-in tells it otherwise.",
            isReloadable: true),
        .advertisedHTTPSPort: Entry(
            type: .integer(1...65_535), preset: .integer(443),
            help: "Port of check-in and registration as it is from outside, told with advertised_host.",
            reason: "Clients come to 443, and something in front of https_port may take them in.",
            isReloadable: true),
        .advertisedDevicePort: Entry(
            type: .integer(1...65_535), preset: .integer(5_228),
            help: "Port of devices as it is from outside, told with advertised_host.",
            reason: "It differs from device_port where something stands in front.", isReloadable: true),
        .tlsMinimum: Entry(
            type: .choice(["1.0", "1.1", "1.2", "1.3"]), preset: .text("1.2"),
            help:
                "Oldest version of TLS that is accepted on the ports of app servers and devices and for HTTPS; the administrative port has no TLS and stays on loopback.",
            reason:
                "Old Android devices and Java app servers stop at 1.2. RFC 8996 deprecates 1.0 and 1.1: choose them only for clients that know nothing newer, as they bring weak ciphers and SHA-1 back for all who ask for them.",
            isReloadable: true),
        .controlSocket: Entry(
            type: .path, preset: .text(""),
            help: "UNIX socket of ccsctl; empty: control.sock in data_directory.",
            reason: "Whoever may open it may do everything, so it has mode 0600."),
    ]

    /// How the process runs and ends.
    static let runtime: [ConfigKey: Entry] = [
        .reactors: Entry(
            type: .integer(0...256), preset: .integer(0), unit: "threads",
            help: "Threads that serve connections; 0 means one for each core.",
            reason: "One for each core is best unless the machine is shared."),
        .storePartitions: Entry(
            type: .integer(0...Limits.Partition.most), preset: .integer(0), unit: "partitions",
            help:
                "Number of partitions of the store, read when it is created; 0 takes \(Limits.Partition.count) for a new store and keeps what an existing one has.",
            reason:
                "The threads share them: four for each processor are enough. A store keeps its number for good; another one that is set here is refused at start."
        ),
        .logLevel: Entry(
            type: .choice(Log.Level.allCases.map(\.word)), preset: .text("info"),
            help: "Least level that is logged.", reason: "debug names every connection: thousands of lines.",
            isReloadable: true),
        .logFormat: Entry(
            type: .choice(Log.Format.allCases.map(\.rawValue)), preset: .text("text"),
            help: "Shape of log lines: key=value text, or one JSON object a line.",
            reason: "Text for eyes and grep, JSON for collectors."),
        .drainGraceSeconds: Entry(
            type: .integer(0...3_600), preset: .integer(Limits.Shutdown.drainGraceSeconds), unit: "seconds",
            help: "Time between the notice CONNECTION_DRAINING and the first close.",
            reason: "App servers open a new connection in this time; acks on the old one still count.",
            isReloadable: true),
        .drainSpreadSeconds: Entry(
            type: .integer(0...3_600), preset: .integer(Limits.Shutdown.drainSpreadSeconds), unit: "seconds",
            help: "Time over which the closes of a drain are spread, at random.",
            reason: "All at once would come back all at once.", isReloadable: true),
        .shutdownSeconds: Entry(
            type: .integer(1...3_600), preset: .integer(Limits.Shutdown.seconds), unit: "seconds",
            help: "Time that a stop takes at most, drain included.",
            reason: "It must stay below TimeoutStopSec of the service.", isReloadable: true),
        .keepaliveSeconds: Entry(
            type: .integer(5...1_800), preset: .integer(Limits.AppServer.keepaliveSeconds), unit: "seconds",
            help: "Silence after which an app server is sent one space.",
            reason: "Middleboxes forget connections that are silent for minutes.", isReloadable: true),
        .devicePingSeconds: Entry(
            type: .integer(Limits.Device.shortestPingSeconds...3_000),
            preset: .integer(Limits.Device.pingSeconds),
            unit: "seconds", help: "Silence after which a device is pinged.",
            reason: "Shorter finds dead links sooner and costs battery; a client gives up after an hour.",
            isReloadable: true),
        .deviceHeartbeatSeconds: Entry(
            type: .integer(0...7_200), preset: .integer(0), unit: "seconds",
            help: "How often devices are told to ping by themselves; 0: they keep to their own.",
            reason: "Chromium obeys; unless told it pings every 15 to 28 minutes. Others do not read it.",
            isReloadable: true),
        .deviceExpirySeconds: Entry(
            type: .integer(0...1_000_000_000), preset: .integer(Limits.Device.expirySeconds), unit: "seconds",
            help: "Time without contact after which a device and its tokens expire; 0: never.",
            reason:
                "FCM has 270 days. What waits for the device goes with it, and app servers hear DEVICE_UNREGISTERED for its tokens; a connected device never expires, nor does an app that Apple reaches. A Firebase installation whose refresh token nobody shows for so long ends too; one without registrations after two weeks.",
            isReloadable: true),
        .clockGraceSeconds: Entry(
            type: .integer(0...31_536_000), preset: .integer(Limits.Clock.graceSeconds), unit: "seconds",
            help:
                "Time of running after which a clock in doubt is believed; 0: only when somebody accepts it.",
            reason:
                "A clock that is more than three days ahead of the last run, or a minute behind, would end devices and messages by its error: until it is believed nothing ends by age. See ccsctl clock show.",
            isReloadable: true),
        .loginDeadlineSeconds: Entry(
            type: .integer(1...300), preset: .integer(Limits.Login.deadlineSeconds), unit: "seconds",
            help: "Time from the TLS handshake to a finished login.",
            reason: "Absolute: no byte extends it, so nobody can sit on a connection.", isReloadable: true),
    ]

    /// Where clients differ from the spec or from each other.
    static let protocols: [ConfigKey: Entry] = [
        .pendingWindow: Entry(
            type: .integer(1...10_000), preset: .integer(Limits.AppServer.pendingWindow), unit: "messages",
            help: "Messages sent and not yet answered on one app server's connection, in each direction.",
            reason: "FCM has 100, and app servers count on it.", isReloadable: true),
        .strictAcks: Entry(
            type: .truth, preset: .truth(false),
            help: "Answer an ack for a message not sent over that connection with BAD_ACK.",
            reason: "CCS did; most libraries end the stream on it, so it is ignored and counted instead.",
            isReloadable: true),
        .controlMessageID: Entry(
            type: .truth, preset: .truth(false), help: "Give control messages a message_id.",
            reason: "CCS sent none; two old client libraries fail without it.", isReloadable: true),
        .lenientTimeToLive: Entry(
            type: .truth, preset: .truth(false), help: "Accept time_to_live as text (\"300\").",
            reason: "CCS refused it; some app servers send it all the same.", isReloadable: true),
        .reserveGCMPrefix: Entry(
            type: .truth, preset: .truth(false),
            help: "Refuse data keys that begin with gcm, not only gcm. with the dot.",
            reason: "The documents of different years disagree.", isReloadable: true),
        .strictConditions: Entry(
            type: .truth, preset: .truth(false),
            help: "Refuse conditions with more than two operators over XMPP and legacy HTTP.",
            reason:
                "The legacy reference allows two, that is three topics; HTTP v1 allows five topics, and so does ccsd everywhere unless told.",
            isReloadable: true),
        .topicPayloadBytes: Entry(
            type: .integer(Limits.Topic.payloadBytes...Limits.Message.payloadBytes),
            preset: .integer(Limits.Topic.payloadBytes), unit: "octets",
            help: "Keys and values that a message to a topic or condition may have.",
            reason: "FCM has 2048, half of what other messages may have.", isReloadable: true),
        .scram: Entry(
            type: .truth, preset: .truth(false),
            help: "Offer app servers SCRAM-SHA-256 and, where TLS can bind it, SCRAM-SHA-256-PLUS.",
            reason: "CCS offered PLAIN alone, and libraries that see SCRAM choose it and log in differently.",
            isReloadable: true),
        .streamManagement: Entry(
            type: .truth, preset: .truth(false),
            help: "Offer app servers stream management (XEP-0198), so that a lost connection can be resumed.",
            reason: "CCS had none, and libraries that see it use it, with acknowledgements of their own.",
            isReloadable: true),
        .idleNotifications: Entry(
            type: .truth, preset: .truth(false),
            help:
                "Ask devices whether they are idle, and hold messages with delay_while_idle until they are active.",
            reason:
                "FCM has ignored delay_while_idle since 2016: off, every connected device counts as active. Only those that log in as android-… or as chrome-… above 63 are asked: the libraries that call themselves chrome-63 fail on the question.",
            isReloadable: true),
    ]
}
