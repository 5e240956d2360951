extension Program {
    /// The load generator.
    public static let ccsBench = Program(
        name: "ccs-bench", summary: "measures ccsd under load",
        details: [
            "ccs-bench starts its own ccsd on loopback in a scratch folder, with rate limits so high that no message is refused, and removes the folder at the end. Each figure in the README is the result of a command.",
            "CPU times are those that the kernel counts for the server's threads. They are higher on a busy machine, and when the server often sleeps: compare only figures of the same run.",
        ],
        commands: [
            Command(
                "down",
                "Measure downstream messages: throughput, latencies, and the server's CPU per message.",
                details: [closedAndOpen],
                options: load + [durable, rate, rounds("1"), curve],
                examples: [
                    Example(
                        "Measure durable messages over 10 connections",
                        "ccs-bench down --durable --connections 10"),
                    Example(
                        "Measure the latency at 5,000 messages per second",
                        "ccs-bench down --durable --rate 5000"),
                ]),
            Command(
                "up", "Measure upstream messages, which are always written to disk first.",
                options: load + [rate, rounds("1"), curve]),
            Command(
                "both", "Measure durable messages in both directions at once.",
                options: load + [rate, rounds("1")]),
            Command(
                "durable",
                "Measure the cost of durability: messages without and with storage, in alternating rounds.",
                details: [
                    "The first load has messages with a time_to_live of 0, which are not stored; downstream and upstream messages of the others are synced before they are acknowledged."
                ],
                options: load + [rate, rounds("3")]),
            Command(
                "http",
                "Measure the same downstream messages over XMPP, legacy HTTP and HTTP v1, in alternating rounds.",
                details: [
                    "HTTP/1.1 with keep-alive; --window is the number of requests in flight on each connection, of which ccsd processes at most 16 at once."
                ],
                options: load + [durable, rate, rounds("3")],
                examples: [
                    Example(
                        "Measure with equal windows", "ccs-bench http --durable --connections 10 --window 16")
                ]),
            Command(
                "login",
                "Measure logins of devices: throughput, duration, and the server's CPU per login.",
                details: [
                    "Each login is a new connection, with a full TLS handshake unless --resume is given. Rounds alternate between ccsd and a minimal relay, which accepts every login."
                ],
                options: [
                    Option("--devices", .integer(1...100_000), "N", "The number of devices.", preset: "2000"),
                    Option(
                        "--resume",
                        "Resume TLS sessions by ticket, like returning clients; each connection gets a new ticket."
                    ),
                    Option(
                        "--subscriptions", .integer(1...100), "N",
                        "Compare devices that subscribe to N topics, without a message that waits, with devices that subscribe to none, in place of the relay."
                    ),
                    rounds("3"), Option("--only-relay", "Measure only the relay."), reactors,
                ]),
            Command(
                "offline", "Measure messages to offline devices, which then log in and receive them.",
                details: [
                    "Rounds alternate between devices to which each message is sent, and devices that get it by their subscription to a topic."
                ],
                options: [
                    connections, window,
                    Option("--devices", .integer(1...100_000), "N", "The number of devices.", preset: "100"),
                    Option(
                        "--messages", .integer(1...100), "N",
                        "Pending messages per device; with more than 100 all would be discarded.",
                        preset: "50"),
                    size, rounds("3"), reactors,
                ]),
            Command(
                "fanout", "Measure one message to a topic with many subscribers during other traffic.",
                details: [
                    "Each subscriber is a separate device that checks in, registers and is subscribed through Instance ID, over keep-alive connections. The message is done when all partitions and all subscribers that are online have it; the others get it with their next login. The growth of the store is that of its table files between two restarts, which write all data of the journal into them."
                ],
                options: [
                    Option(
                        "--subscribers", .integer(1...10_000_000), "N",
                        "The number of subscribers of the topic.",
                        preset: "1000"),
                    Option(
                        "--online", .integer(0...100_000), "N", "The number of subscribers that are online.",
                        preset: "0"),
                    Option("--import", "Import the subscribers that are not online, which takes less time."),
                    Option(
                        "--rate", .integer(1...1_000_000), "N",
                        "Other messages per second, durable and at random times.", preset: "500"),
                    Option(
                        "--further", .integer(0...1_000), "N",
                        "Messages that are sent to the topic in a row at the end; with more than 1,000 all would be discarded.",
                        preset: "0"),
                    connections, window,
                    Option(
                        "--devices", .integer(1...100_000), "N",
                        "The number of devices that get the other messages.",
                        preset: "100"), size, reactors,
                ],
                examples: [
                    Example(
                        "Measure 100,000 subscribers", "ccs-bench fanout --subscribers 100000 --online 1000")
                ]),
            Command(
                "relay", "Compare the server's CPU per message with that of a minimal C relay.",
                details: [
                    "The same load of messages with a time_to_live of 0 goes alternately through ccsd and through a minimal relay written in C (OpenSSL, expat, one buffer per connection), which validates and stores nothing."
                ],
                options: load + [
                    rate, rounds("3"),
                    Option("--only-relay", "Measure only the relay."),
                    Option(
                        "--plain-reads",
                        "Let the relay's OpenSSL read one TLS record at a time, which is OpenSSL's default."),
                ]),
            Command(
                "apns",
                "Compare the server's CPU per message to iOS apps, from an app server through to Apple, with that of messages to connected devices.",
                details: [
                    "A responder in ccs-bench stands in for Apple on loopback, with a certificate and a key made for the run, and accepts every message; its CPU counts for the generator. Rounds alternate between messages with a time_to_live of 0 to connected devices (`now`) and notifications of the same size to iOS apps (`apns`), whose ACK is Apple's verdict.",
                    "The maximums of connections and of requests in flight on one of them are those that the responder sees. The server's memory is read before the first round, after it and at the end.",
                ],
                options: load + [
                    Option(
                        "--durable",
                        "Send the notifications with a lifetime, which are on disk before they are sent."),
                    Option(
                        "--latency", .integer(0...1_000), "MILLISECONDS",
                        "The time from a request to Apple until its answer.", preset: "0"),
                    rate, rounds("3"),
                ],
                examples: [
                    Example(
                        "Keep 100 requests in flight on one connection",
                        "ccs-bench apns --window 100 --latency 20")
                ]),
            Command(
                "cluster",
                "Compare the server's CPU per durable message at a daemon that is alone with that in a cluster.",
                details: [
                    "The log of the cluster is on three nats-servers, which ccs-bench starts on loopback. App servers and devices are connected to the first node. With one node, that owns all partitions, and the comparison shows what the log costs an owner. With three, each owns a third and applies what the others write; the CPU time is that of all nodes together.",
                    "The CPU time of the nats-servers is printed at the end. It includes warming up, and what they do between the rounds.",
                ],
                options: load + [
                    Option("--nodes", .integer(1...3), "N", "The number of nodes.", preset: "1"),
                    Option(
                        "--nats-server", .path, "PROGRAM", "The nats-server to start.",
                        preset: "/usr/sbin/nats-server"),
                    rate, rounds("3"),
                ],
                examples: [
                    Example(
                        "Compare with a node that owns all partitions",
                        "ccs-bench cluster --connections 10 --nats-server .venv/bin/nats-server")
                ]),
            Command(
                "consoles",
                "Compare throughput and the server's CPU per message without and with open consoles.",
                details: [
                    "Each console does what a browser with the page Overview does: it reads the stream of figures, and asks for health and status every ten seconds, over TLS. First the processor time of the server without messages is measured, without and with the consoles; then rounds alternate between messages alone and messages with the consoles."
                ],
                options: load + [
                    durable,
                    Option("--consoles", .integer(1...60), "N", "The number of consoles.", preset: "10"),
                    rate, rounds("3"),
                ],
                examples: [
                    Example("Measure durable messages", "ccs-bench consoles --durable --connections 10")
                ]),
            Command(
                "flat",
                "Compare the server's CPU per message with many and with few devices and stored messages, and measure restarts.",
                details: [
                    "Rounds alternate between two servers: a small one with 1,000 devices and no stored messages, and a large one with the given numbers of devices and of stored messages for offline devices. The same loads (time_to_live of 0, and durable) go to the same number of online devices of each. Then the large server is restarted after a stop and after a kill, and the time until a device is logged in is measured."
                ],
                options: [
                    Option(
                        "--registered", .integer(2_000...10_000_000), "N",
                        "The number of devices of the large server, each with a registration.",
                        preset: "1000000"),
                    Option(
                        "--messages", .integer(0...50), "N",
                        "Stored messages per offline device, up to half of the number at which they would be discarded.",
                        preset: "10"),
                ] + load + [rounds("3")],
                examples: [
                    Example("Measure a tenth of it", "ccs-bench flat --registered 100000 --connections 10")
                ]),
            Command(
                "idle", "Measure the memory per idle device connection.",
                options: [
                    Option(
                        "--devices", .integer(1...1_000_000), "N", "The number of devices.", preset: "5000"),
                    reactors,
                ]),
            Command(
                "history", "Measure the answers from a message history of many messages.",
                details: [
                    "Files of the history are written as ccsd would have done in the last 23 hours, then ccsd is started with them and asked as by an operator. Exits with 1 if an answer does not have what was written."
                ],
                options: [
                    Option(
                        "--messages", .integer(1_000...1_000_000_000), "N",
                        "The number of messages: some 60 bytes of disk for each.", preset: "10000000"),
                    reactors,
                ]),
            Command(
                "restart", "Restart ccsd under load and check that every accepted message arrives.",
                details: [
                    "During traffic in both directions ccsd gets SIGTERM, drains, and is started again on the same ports, and all clients reconnect. Exits with 1 if an accepted message is lost, or if a message is refused for another reason than CONNECTION_DRAINING."
                ],
                options: [
                    Option(
                        "--connections", .integer(1...5_000), "N", "The number of app server connections.",
                        preset: "1000"),
                    Option("--devices", .integer(1...14_000), "N", "The number of devices.", preset: "10000"),
                    Option(
                        "--rate", .integer(1...100_000), "N",
                        "Downstream messages per second; a quarter of the rate is sent upstream in addition.",
                        preset: "500"),
                    reactors,
                ]),
            Command(
                "backup",
                "Back up ccsd at random moments under load, restore each backup, and audit it.",
                details: [
                    "Durable messages are due at random times; half of the devices are offline. After the load every backup is restored to a new data directory with `ccsd restore`, and a ccsd is started there. Its audit must hold, and it must have accepted every message that was acknowledged before the backup began, and none that was sent after its end. A restore onto the running server must be refused.",
                    "The latencies are those of ACKs from a message's due time, over the whole load. Exits with 1 if a backup, a restore or one of these checks fails.",
                ],
                options: [
                    Option("--moments", .integer(1...1_000), "N", "The number of backups.", preset: "10"),
                    Option(
                        "--rate", .integer(1...100_000), "N", "Messages per second.", preset: "10000"),
                    Option(
                        "--pause", .integer(0...60_000), "MILLISECONDS",
                        "The longest time between two backups.", preset: "4000"),
                    connections, window,
                    Option("--devices", .integer(2...14_000), "N", "The number of devices.", preset: "2000"),
                    size, reactors,
                    Option(
                        "--plant", .choice(["loss", "surplus"]), "FAULT",
                        "Falsify the measurement, to verify that the command fails.", preset: "nothing"),
                ],
                examples: [
                    Example("Take three backups at a lower rate", "ccs-bench backup --moments 3 --rate 2000")
                ]),
            Command(
                "attack",
                "Attack ccsd with many kinds of hostile peers, one after the other, during legitimate traffic.",
                details: [
                    "The attacks include slow stream headers, handshakes and bodies, half-open connections beyond the descriptor limit, guessed keys from many loopback addresses, stanzas that are too large, too deep or full of entities, offers of compression, renegotiation, acks of unknown messages, messages beyond the window, unknown tokens, peers that never read, endless headers, compression bombs, floods of HTTP/2 and MCS frames, repeated SIGHUP, and exhausted descriptors. The row `none` is the legitimate traffic alone.",
                    "Latencies of legitimate messages are measured from their due time to their arrival at the device. Each attack also counts its effects, such as accepted connections, close reasons, logins, answers and bytes, and has a required minimum for each.",
                    "Exits with 1 if an attack misses one of its minimums, an acknowledged message is lost, a legitimate message is refused or a legitimate connection ends, new clients are not served afterwards, ccsd ends, or its memory does not return to the previous value plus 32 MiB and 1 KiB for each legitimate message in the store's write buffers.",
                ],
                options: [
                    Option(
                        "--only", .text, "NAME", "Run only this attack.", preset: "all",
                        isRepeatable: true),
                    Option(
                        "--scale", .integer(1...1_000), "PERCENT",
                        "Scales the numbers of each attack, such as a million unknown tokens.",
                        preset: "100"),
                    Option(
                        "--rate", .integer(1...100_000), "N",
                        "Legitimate messages per second, durable and at random times.", preset: "1000"),
                    connections, window,
                    Option(
                        "--devices", .integer(1...10_000), "N", "The number of legitimate devices.",
                        preset: "100"), size,
                    reactors,
                    Option(
                        "--plant", .choice(["loss", "memory", "silence", "absence"]), "FAULT",
                        "Falsify the measurement, to verify that the command fails.", preset: "nothing"),
                ],
                examples: [
                    Example(
                        "Run two attacks", "ccs-bench attack --only login-flood --only h2-bodies --seconds 5")
                ]),
            Command(
                "soak",
                "Run a steady load in both directions for a long time, while devices disconnect and reconnect.",
                details: [
                    "All messages are durable and due at random times. Each flapping device stays connected for 5 to 25 seconds; then it closes or breaks its connection, usually for a moment, every fourth time for 5 to 15 seconds, and receives the stored messages after it reconnects. Latencies are measured from the due time of a message to its arrival, except for messages to disconnected devices.",
                    "The first sixth of the time is warm-up. Exits with 1 if an acknowledged message is lost, a message is refused, a connection ends unexpectedly, the counts of `ccsctl audit` are inconsistent, include a pending message or differ from those of the clients, there are more sockets than at the start, the memory grows by more than 32 MiB per hour (less than a byte per message at 5,000 per second; runs under half an hour may in addition fill the store's cache and write buffers), a latency increases to more than double and by more than 5 ms, or the rate is not reached. The store grows by the IDs of upstream messages, which it keeps for a day to drop duplicates.",
                ],
                options: [
                    Option(
                        "--minutes", .integer(1...100_000), "N",
                        "The duration; --seconds overrides it.",
                        preset: "60"),
                    Option(
                        "--rate", .integer(1...100_000), "N", "Messages per second in each direction.",
                        preset: "5000"),
                    Option(
                        "--connections", .integer(1...1_000), "N", "The number of app server connections.",
                        preset: "50"),
                    window,
                    Option("--devices", .integer(1...14_000), "N", "The number of devices.", preset: "2000"),
                    Option(
                        "--flapping", .integer(0...100), "PERCENT", "The percentage of flapping devices.",
                        preset: "25"),
                    Option(
                        "--reactors", .integer(1...256), "N",
                        "The number of ccsd's threads that serve connections.",
                        preset: "2"),
                    Option(
                        "--samples", .path, "FILE",
                        "Write samples taken every few seconds as JSON, which Scripts/soak plots."),
                    Option(
                        "--plant", .choice(["loss", "leak", "drift", "sockets", "books"]), "FAULT",
                        "Falsify the measurement, to verify that the command fails.", preset: "nothing"),
                ],
                examples: [
                    Example("Run for three minutes", "ccs-bench soak --minutes 3 --samples soak.json")
                ]),
            Command(
                "simulate",
                "Run simulations of clients, network, server and disk, each generated from a seed.",
                details: [
                    "No ccsd is started. Each simulation has a phase with faults and then one without, in which every message must arrive that can. A failed simulation is reported with its seed, which reproduces it."
                ],
                options: [
                    Option(
                        "--seeds", .integer(1...1_000_000_000), "N",
                        "The number of seeds; even seeds simulate without sessions, odd ones with sessions.",
                        preset: "1000; unlimited with --minutes"),
                    Option("--minutes", .integer(1...10_000), "N", "The duration."),
                    Option(
                        "--first", .integer(1...1_000_000_000_000_000), "SEED", "The first seed.",
                        preset: "a random one"),
                ],
                examples: [Example("Repeat one simulation", "ccs-bench simulate --first 17 --seeds 1")]),
        ],
        options: [
            Option("--ccsd", .path, "PROGRAM", "The ccsd to start.", preset: "the one beside ccs-bench"),
            Option(
                "--directory", .path, "PATH", "The folder in which the scratch folder is created.",
                preset: "/var/tmp"),
            Option("--seconds", .integer(1...86_400), "N", "The duration of a measurement.", preset: "10"),
            Option("--json", "Print one JSON object, for programs."),
        ],
        variables: [], files: [],
        examples: [Example("Compare with the minimal relay", "ccs-bench relay --connections 10")],
        exitCodes: [.success, .failure, .usage, .unavailable, .software, .inputOutput],
        section: 1)

    private static let reactors = Option(
        "--reactors", .integer(1...256), "N",
        "The number of ccsd's threads that serve connections; a single one is bound to its own processor.",
        preset: "1")

    private static let closedAndOpen =
        "Without --rate the window of every connection is kept full (closed loop), which measures the maximum throughput; latencies then include queueing. With --rate messages are due at random times (Poisson) independent of the server, and latencies are measured from the due time (open loop)."

    private static let connections = Option(
        "--connections", .integer(1...10_000), "N", "The number of app server connections.", preset: "1")
    private static let window = Option(
        "--window", .integer(1...100), "N", "Unacknowledged messages per connection.", preset: "100")
    private static let size = Option(
        "--size", .integer(300...4_096), "N", "The size of a stanza in bytes.", preset: "374")
    private static let durable = Option(
        "--durable", "Send messages with a lifetime, which are on disk before their ACK.")
    private static let rate = Option(
        "--rate", .integer(1...10_000_000), "N", "Messages per second, at random times.",
        preset: "limited by the windows only")
    private static let curve = Option(
        "--curve",
        "Measure at ten fractions of the maximum throughput; with --json, Scripts/plot.py draws latency against load."
    )

    private static func rounds(_ preset: String) -> Option {
        Option("--rounds", .integer(1...100), "N", "The number of measurements of each load.", preset: preset)
    }

    private static let load = [
        connections, window,
        Option("--devices", .integer(1...100_000), "N", "The number of devices.", preset: "100"), size,
        reactors,
    ]
}
