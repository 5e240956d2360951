extension Program {
    /// Load and figures.
    public static let ccsBench = Program(
        name: "ccs-bench", summary: "measures ccsd: each figure of the README is a command of it",
        details: [
            "It starts a ccsd of its own on loopback in a scratch folder, with rates of messages so high that none is refused; the scratch folder is removed at the end.",
            "CPU times are those that the kernel counts for the server's threads. They grow on a busy machine, and where the server often sleeps: compare figures of one run.",
        ],
        commands: [
            Command(
                "down",
                "Downstream messages: how many a second, their latencies, and the server's CPU for each.",
                details: [closedAndOpen],
                options: load + [durable, rate, rounds("1"), plot],
                examples: [
                    Example("Durable, 10 connections", "ccs-bench down --durable --connections 10"),
                    Example("What one waits at 5,000 a second", "ccs-bench down --durable --rate 5000"),
                ]),
            Command(
                "up", "The same for messages of devices to app servers, which are always on disk first.",
                options: load + [rate, rounds("1"), plot]),
            Command(
                "both", "Durable messages both ways at once, the CPU shared by all.",
                options: load + [rate, rounds("1")]),
            Command(
                "durable",
                "What it costs that messages are on disk before their ACK: now or never, down and up, in turns.",
                details: [
                    "The first load is messages that are delivered now or never, which nothing is stored of; the others are synced before they are answered."
                ],
                options: load + [rate, rounds("3")]),
            Command(
                "http",
                "The same downstream messages over XMPP, the legacy HTTP interface and HTTP v1, in turns.",
                details: [
                    "HTTP/1.1 with keep-alive; each connection has as many requests on their way as its window says, at most the 16 that ccsd takes up at once."
                ],
                options: load + [durable, rate, rounds("3")],
                examples: [
                    Example(
                        "With equal windows", "ccs-bench http --durable --connections 10 --window 16")
                ]),
            Command(
                "login",
                "Logins of devices: how many a second, how long each takes, and the server's CPU for each.",
                details: [
                    "Each is a new connection, with a whole TLS handshake unless --resume is given. The minimal relay and ccsd take turns; the relay believes everybody."
                ],
                options: [
                    Option("--devices", .integer(1...100_000), "N", "Devices.", preset: "2000"),
                    Option(
                        "--resume",
                        "Resume TLS sessions by ticket, as clients do that have been there before; a new ticket comes with each."
                    ),
                    rounds("3"), Option("--only-relay", "Leave ccsd out."), reactors,
                ]),
            Command(
                "offline", "Messages to devices that are away, which then log in and fetch them.",
                options: [
                    connections, window,
                    Option("--devices", .integer(1...100_000), "N", "Devices.", preset: "100"),
                    Option(
                        "--messages", .integer(1...100), "N",
                        "Messages that wait for each; beyond 100 all would be discarded.", preset: "50"),
                    size, reactors,
                ]),
            Command(
                "fanout", "One message to a topic with many subscribers, while other messages go their way.",
                details: [
                    "Each subscriber is a device of its own that checks in, registers and is subscribed through Instance ID, over kept connections. The growth of the store is that of its table files between two restarts, which bring all from the log into them."
                ],
                options: [
                    Option(
                        "--subscribers", .integer(1...10_000_000), "N", "Subscribers of the topic.",
                        preset: "1000"),
                    Option(
                        "--online", .integer(0...100_000), "N", "How many of them are online.", preset: "0"),
                    Option(
                        "--rate", .integer(1...1_000_000), "N",
                        "Other messages a second, durable, at random times.", preset: "500"),
                    connections, window,
                    Option(
                        "--devices", .integer(1...100_000), "N", "Devices that get the others.",
                        preset: "100"), size, reactors,
                ],
                examples: [
                    Example("A hundred thousand", "ccs-bench fanout --subscribers 100000 --online 1000")
                ]),
            Command(
                "relay", "Server CPU per message, against the least that a C program can do.",
                details: [
                    "The same load, with messages that are delivered now or never, goes through a minimal relay written in C (OpenSSL, expat, one buffer per connection; it checks and stores nothing) and through ccsd, in turns."
                ],
                options: load + [
                    rate, rounds("3"),
                    Option("--only-relay", "Leave ccsd out."),
                    Option(
                        "--plain-reads",
                        "Let the relay's OpenSSL read record by record, as it does unless told otherwise."),
                ]),
            Command(
                "flat",
                "Server CPU per message with many devices and stored messages, against few; and restarts with them.",
                details: [
                    "Two servers in turns: one has 1,000 devices and stores nothing, the other has as many devices and messages for absent ones as is asked for, each sent as app servers do. The same load goes to the same number of online devices of each: delivered now or never, and durable. Then the large one is stopped and started, and killed and started: from there until a device is logged in."
                ],
                options: [
                    Option(
                        "--registered", .integer(2_000...10_000_000), "N",
                        "Devices of the large one, each with a registration.", preset: "1000000"),
                    Option(
                        "--messages", .integer(0...50), "N",
                        "Messages stored for each absent one of them; half of what makes them discarded at most.",
                        preset: "10"),
                ] + load + [rounds("3")],
                examples: [
                    Example("A tenth of it", "ccs-bench flat --registered 100000 --connections 10")
                ]),
            Command(
                "compare",
                "ccsd, the floor and the servers that one would take instead, side by side and turn by turn.",
                details: [
                    "The floor is the minimal relay of `relay`. mosquitto (MQTT), NATS (its core, without JetStream), ejabberd and Prosody (plain XMPP) are those of Debian, each on loopback in the scratch folder, without privileges, with the settings of somebody who wants all it can do; one that is not installed is left out. `Scripts/bootstrap --peers` installs them.",
                    "Each sender has a receiver of its own, and messages are of one size. First a crowd logs in at each server and stays for a moment: CPU of a login with a whole TLS handshake, and memory of an idle connection. Then each load is measured with full windows, in turns; the table has the medians. An ACK does not say the same everywhere: the last column tells what.",
                    "Where the generator needs a whole processor, more messages a second would be possible; CPU per message is what the kernel has counted for the server, and stands.",
                ],
                options: [
                    Option(
                        "--only", .text, "NAME",
                        "A load or a server to compare, such as ccsd-down or mosquitto, and no other.",
                        preset: "all", isRepeatable: true),
                    connections, window, size,
                    Option(
                        "--idle", .integer(0...15_000), "N",
                        "Connections of the crowd that logs in; 0 leaves that out.", preset: "1000"),
                    Option(
                        "--half",
                        "Measure at half of what each can do as well: messages are due at random times (open loop)."
                    ),
                    Option(
                        "--batches",
                        "Put messages that are sent at once into one TLS record; a client writes each by itself, which some servers find dear."
                    ),
                    rounds("3"), reactors,
                    Option(
                        "--plot", .path, "FILE",
                        "Draw p99 against load for all (SVG), at five shares of what each can do."),
                ],
                examples: [
                    Example("All of them", "ccs-bench compare --connections 10 --half"),
                    Example(
                        "Two of them", "ccs-bench compare --only ccsd-down --only mosquitto-qos1 --seconds 3"),
                ]),
            Command(
                "idle", "Memory per idle device connection.",
                options: [
                    Option("--devices", .integer(1...1_000_000), "N", "How many.", preset: "5000"), reactors,
                ]),
            Command(
                "restart", "A rolling restart under load: all that was accepted must arrive.",
                details: [
                    "App servers and devices talk; ccsd is told to stop with SIGTERM, drains, and is started again on the same ports; everybody comes back. Exits 1 where anything that was accepted is lost, or anything is refused for another reason than CONNECTION_DRAINING."
                ],
                options: [
                    Option(
                        "--connections", .integer(1...5_000), "N", "App server connections.", preset: "1000"),
                    Option("--devices", .integer(1...14_000), "N", "Devices.", preset: "10000"),
                    Option(
                        "--rate", .integer(1...100_000), "N",
                        "Downstream messages a second; a quarter as many go upstream.", preset: "500"),
                    reactors,
                ]),
            Command(
                "attack",
                "Hostile peers of many kinds, one after the other, while good messages go their way.",
                details: [
                    "Slow openings, handshakes and bodies, half-open connections beyond the limit of descriptors, guessed keys from many addresses of loopback, stanzas that are too large, too deep or full of entities, offers of compression, renegotiation, acks of nothing, messages beyond the window, unknown tokens, peers that never read, endless headers, packed bombs, floods of HTTP/2 and MCS, SIGHUP again and again, and no descriptor left. The row `none` is that of the good ones alone.",
                    "Latencies of the good messages are from the time each was due to its arrival at the device. Each attack also counts what it reached, such as connections accepted or closed for a reason, logins, answers and bytes, and has a floor for each of these.",
                    "Exits 1 where an attack stays below one of its floors, an acknowledged message does not arrive, a good message is refused or a good connection ends, newcomers are not served afterwards, ccsd ends, or its memory does not come back: to 32 MiB over what it was before, and 1 KiB for each good message that the store holds in its write buffers.",
                ],
                options: [
                    Option(
                        "--only", .text, "NAME", "An attack to make, and no other.", preset: "all",
                        isRepeatable: true),
                    Option(
                        "--scale", .integer(1...1_000), "PERCENT",
                        "How hard: percent of the numbers of each attack, such as a million unknown tokens.",
                        preset: "100"),
                    Option(
                        "--rate", .integer(1...100_000), "N",
                        "Good messages a second, durable, at random times.", preset: "1000"),
                    connections, window,
                    Option("--devices", .integer(1...10_000), "N", "Good devices.", preset: "100"), size,
                    reactors,
                    Option(
                        "--plant", .choice(["loss", "memory", "silence", "absence"]), "FAULT",
                        "Spoil what was measured, to see that the command fails.", preset: "nothing"),
                ],
                examples: [
                    Example(
                        "Two of them", "ccs-bench attack --only login-flood --only h2-bodies --seconds 5")
                ]),
            Command(
                "soak",
                "A steady load both ways for a long time, while devices leave and come back: nothing may grow.",
                details: [
                    "All messages are durable and due at random times. Of the devices that flap, each stays for 5 to 25 seconds; then it ends its connection or breaks it off, mostly for a moment, every fourth time for 5 to 15 seconds, and gets what was stored meanwhile when it is back. Latencies are from the time each message was due to its arrival, those left out whose device was away.",
                    "The first sixth of the time is warm-up. Exits 1 where an acknowledged message is lost, anything is refused, a connection ends of itself, the daemon's own books (`ccsctl audit`) do not balance, still hold a message or differ from those of the peers, it has more sockets than at the begin, its memory grows by more than 32 MiB an hour (less than an octet for each message at 5,000 a second; in less than half an hour also by what fills the store's cache and write buffers), a latency drifts to more than twice and 5 ms over what it was, or the rate is not held. The store grows by the ids of upstream messages, which it keeps for a day to drop what devices repeat.",
                ],
                options: [
                    Option(
                        "--minutes", .integer(1...100_000), "N",
                        "How long; with --seconds in its place, that long.",
                        preset: "60"),
                    Option(
                        "--rate", .integer(1...100_000), "N", "Messages a second each way.", preset: "5000"),
                    Option(
                        "--connections", .integer(1...1_000), "N", "App server connections.", preset: "50"),
                    window,
                    Option("--devices", .integer(1...14_000), "N", "Devices.", preset: "2000"),
                    Option(
                        "--flapping", .integer(0...100), "PERCENT", "How many of them flap.", preset: "25"),
                    Option(
                        "--reactors", .integer(1...256), "N", "Threads of ccsd that serve connections.",
                        preset: "2"),
                    Option(
                        "--samples", .path, "FILE",
                        "Write what was seen every few seconds, as JSON (Scripts/soak draws it)."),
                    Option(
                        "--plant", .choice(["loss", "leak", "drift", "sockets", "books"]), "FAULT",
                        "Spoil what was measured, to see that the command fails.", preset: "nothing"),
                ],
                examples: [
                    Example("Three minutes", "ccs-bench soak --minutes 3 --samples soak.json")
                ]),
            Command(
                "simulate", "Whole worlds of clients, network, server and disk, each made from a seed.",
                details: [
                    "No ccsd is started. Each world has a storm of faults and then a calm in which everything must get where it can; one in which something was wrong is told by its seed, which makes it again."
                ],
                options: [
                    Option(
                        "--seeds", .integer(1...1_000_000_000), "N",
                        "How many seeds; each makes one world, even ones without sessions and odd ones with them.",
                        preset: "1000, or no end with --minutes"),
                    Option("--minutes", .integer(1...10_000), "N", "How long."),
                    Option(
                        "--first", .integer(1...1_000_000_000_000_000), "SEED", "The first seed.",
                        preset: "at random"),
                ],
                examples: [Example("One world again", "ccs-bench simulate --first 17 --seeds 1")]),
        ],
        options: [
            Option("--ccsd", .path, "PROGRAM", "The ccsd to start.", preset: "the one beside ccs-bench"),
            Option(
                "--directory", .path, "PATH", "Where the scratch folder with the store is made.",
                preset: "/var/tmp"),
            Option("--seconds", .integer(1...86_400), "N", "How long to measure.", preset: "10"),
            Option("--json", "Print one JSON object, for programs."),
        ],
        variables: [], files: [],
        examples: [Example("Against the floor", "ccs-bench relay --connections 10")],
        exitCodes: [.success, .failure, .usage, .unavailable, .software, .inputOutput],
        section: 1)

    private static let reactors = Option(
        "--reactors", .integer(1...256), "N",
        "Threads of ccsd that serve connections; one has a processor for itself.", preset: "1")

    private static let closedAndOpen =
        "Without --rate the window of every connection is kept full (closed loop): that shows the most that the server can do, and the queue is in the latencies. With --rate messages are due at random times (Poisson) whatever the server does, and a latency counts from the time at which its message was due (open loop)."

    private static let connections = Option(
        "--connections", .integer(1...10_000), "N", "App server connections.", preset: "1")
    private static let window = Option(
        "--window", .integer(1...100), "N", "Messages sent and not yet answered, on each.", preset: "100")
    private static let size = Option(
        "--size", .integer(300...4_096), "N", "Octets of a stanza.", preset: "374")
    private static let durable = Option(
        "--durable", "Give each message a lifetime, so that it is on disk before its ACK.")
    private static let rate = Option(
        "--rate", .integer(1...10_000_000), "N", "Messages a second, at random times.",
        preset: "as many as the windows allow")
    private static let plot = Option(
        "--plot", .path, "FILE",
        "Measure at ten shares of the most that the server can do, and draw latency against load (SVG).")

    private static func rounds(_ preset: String) -> Option {
        Option("--rounds", .integer(1...100), "N", "How often each load is measured.", preset: preset)
    }

    private static let load = [
        connections, window,
        Option("--devices", .integer(1...100_000), "N", "Devices.", preset: "100"), size, reactors,
    ]
}
