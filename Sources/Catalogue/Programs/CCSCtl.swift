import Basics

extension Program {
    /// The operator's tool.
    public static let ccsctl = Program(
        name: "ccsctl", summary: "the operator's tool of ccsd",
        details: [
            "ccsctl talks to a running ccsd over its control socket. Without --socket it takes $CCSD_CONTROL_SOCKET, else ./ccs-data/control.sock, else /run/ccsd/control.sock, whichever exists first.",
            "Server keys are never arguments, which every user of the machine can read: give them by --key-file or --key-stdin.",
        ],
        commands: stateCommands + senderCommands + accountCommands + deviceCommands + topicCommands
            + offlineCommands,
        options: [
            Option("--socket", .path, "PATH", "The control socket of the daemon."),
            Option("--json", "Print the answer as one JSON object, for programs."),
        ],
        variables: [
            (name: "CCSD_CONTROL_SOCKET", meaning: "The control socket, where --socket is not given.")
        ],
        files: [
            (
                path: "./ccs-data/control.sock",
                meaning: "The control socket of a ccsd started here without options."
            ),
            (path: "/run/ccsd/control.sock", meaning: "The control socket of the service."),
        ],
        examples: [
            Example("What the daemon does now", "ccsctl status"),
            Example("A new sender; its key is shown once", "ccsctl senders add --label shop"),
            Example("Whether anything was lost", "ccsctl audit"),
        ],
        exitCodes: [
            .success, .failure, .usage, .badData, .unavailable, .software, .inputOutput, .noPermission,
            .configuration,
        ],
        section: 1)

    private static let keyOptions = [
        Option(
            "--key-file", .path, "FILE",
            "Take the server key from the first line of a file, instead of making one."),
        Option("--key-stdin", "Take the server key from the first line of standard input."),
    ]

    private static let stateCommands = [
        Command("status", "Show state, listeners, connections and counters."),
        Command(
            "check", "Check the configuration: that of the running daemon, or of a file.",
            details: ["With FILE no daemon is needed: ccsd check is run on it."],
            arguments: [Argument("FILE", "A configuration file.", isOptional: true)],
            examples: [Example("Before it is put in place", "ccsctl check new.yaml")]),
        Command(
            "reload",
            "Read configuration and certificates again; wrong ones change nothing. Says which changes wait for a restart.",
            details: [
                "Exits with 1 where anything is wrong; the settings and the certificate of before stay in force.",
                "With --certificate and --private-key ccsctl reads these files and hands them to ccsd, which uses them in the place of certificate_file and key_file until those change: systemd shows a service the credentials of its start, and not their renewal.",
            ],
            options: [
                Option("--certificate", .text, "FILE", "PEM file of the renewed certificate and its chain."),
                Option("--private-key", .text, "FILE", "PEM file of its private key."),
            ],
            examples: [
                Example(
                    "After a renewal, as root",
                    "ccsctl reload --certificate /etc/ccsd/certificate.pem --private-key /etc/ccsd/key.pem")
            ]),
        Command(
            "clock show", "Show whether the machine's clock is believed.",
            details: [
                "A clock is in doubt that is more than three days ahead of when ccsd last ran, more than a minute behind, or outside of 2023 to 2099. As long as it is, no device, message or token ends by its age; messages are delivered all the same. It is believed again as soon as it is set right, when a device that was here before confirms it, or when clock_grace_seconds of running are over."
            ]),
        Command(
            "clock accept", "Say that the machine's clock is right: what is over by it ends.",
            details: [
                "Make sure first: what ends then is gone. Devices go at 2,000 an hour at most, so that a mistake can still be stopped: stop ccsd, and set the clock."
            ]),
        Command(
            "drain", "Ask app servers to reconnect, then close their connections.",
            details: [
                "Each is told CONNECTION_DRAINING; after the grace the connections close one by one, at random over the spread. What is on its way is still acknowledged, new messages are refused with CONNECTION_DRAINING, and connections opened meanwhile get everything else. The daemon keeps running; devices stay.",
                "Without an option the connections of all app servers that are open now are drained.",
            ],
            options: [
                Option("--session", .text, "ID", "Drain one connection, by its ID in sessions list."),
                Option("--sender", .integer(1...Int.max), "N", "Drain the connections of one sender."),
            ],
            examples: [Example("Move one sender to new connections", "ccsctl drain --sender 100000000001")]),
        Command(
            "audit", "Check that no accepted message was lost.",
            details: [
                "Counts what is in the store and compares: accepted = delivered + replaced + expired + discarded + removed + pending. Exits 1 where that does not hold."
            ]),
        Command(
            "sessions list", "List the peers that are logged in.",
            options: [Option("--limit", .integer(1...10_000), "N", "List so many at most.", preset: "100")]),
        Command(
            "send", "Send one message to a device, a group or a topic, as one of the senders.",
            arguments: [
                Argument("SENDER_ID", "The sender that the token was made for."),
                Argument(
                    "TOKEN",
                    "The registration token of the device, the notification key of a group, or /topics/NAME."),
                Argument("KEY=VALUE", "A pair of the payload.", isOptional: true, isRepeatable: true),
            ],
            options: [
                Option("--collapse-key", .text, "KEY", "Replace a waiting message with the same key."),
                Option(
                    "--time-to-live", .integer(0...2_419_200), "SECONDS",
                    "Keep it so long for a device that is away; 0: now or never.", preset: "2419200"),
                Option("--priority", .choice(["normal", "high"]), "normal|high", "How urgent it is."),
                Option("--raw-data", .text, "BASE64", "Up to 4,096 bytes in place of pairs."),
            ],
            examples: [Example("Two pairs", "ccsctl send 100000000001 \"$TOKEN\" title=Hello body=World")]),
    ]

    private static let senderCommands = [
        Command(
            "senders add", "Add a sender and show its ID and key.",
            details: ["The key is stored as a hash only: this is the one time that it can be shown."],
            options: [
                Option("--label", .text, "TEXT", "A name for people."),
                Option(
                    "--project", .text, "NAME", "The project id, which stands in the paths of HTTP v1.",
                    preset: "ccs- and the ID"),
                Option("--sender-id", .integer(1...Int.max), "N", "The ID, where it must be a certain one."),
            ] + keyOptions,
            examples: [
                Example(
                    "Move a sender from FCM with its key",
                    "ccsctl senders add --sender-id 12345 --key-file key.txt")
            ]),
        Command("senders list", "List the senders."),
        Command(
            "senders rotate-key", "Give a sender a new key; the old ones work for a while.",
            arguments: [Argument("SENDER_ID", "The sender.")],
            options: [
                Option(
                    "--overlap-seconds", .integer(0...31_536_000), "N", "Old keys work for so long.",
                    preset: "86400")
            ] + keyOptions),
        Command(
            "senders remove", "Remove a sender; its connections end and its tokens are dead.",
            arguments: [Argument("SENDER_ID", "The sender.")]),
    ]

    private static let target = Argument(
        "DEVICE|TOKEN", "The Android id, in decimal, or a registration token.")

    private static let deviceCommands = [
        Command(
            "devices list", "List the devices.",
            options: [
                Option("--limit", .integer(1...10_000), "N", "List so many at most.", preset: "100"),
                Option("--after", .integer(0...Int.max), "DEVICE", "Go on after this device."),
            ]),
        Command(
            "devices show", "Show a device: contact, connection, registrations and waiting messages.",
            arguments: [target]),
        Command(
            "devices trace", "Tell each step of a device's messages as it happens, both ways.",
            details: [
                "With a token only messages of its registration are told. A step is accepted, stored, sent, acknowledged, delivered, replaced, expired, refused, discarded or removed; a message of the device begins with received. What a message says is never shown.",
                "It ends after --seconds, or at Ctrl-C. Where nobody traces, nothing is gathered.",
            ],
            arguments: [target],
            options: [
                Option(
                    "--seconds", .integer(1...Limits.traceSeconds), "N", "Stop after so long.", preset: "60")
            ],
            examples: [Example("For ten minutes", "ccsctl devices trace \"$TOKEN\" --seconds 600")]),
        Command(
            "devices forget", "Forget a device, its registrations and its waiting messages.",
            arguments: [Argument("DEVICE", "The Android id, in decimal.")]),
        Command(
            "installations list", "List the Firebase installations, with how many registrations each has.",
            options: [
                Option("--limit", .integer(1...10_000), "N", "List up to N.", preset: "100"),
                Option("--after", .text, "INSTALLATION", "Go on after this installation."),
            ]),
        Command(
            "installations show",
            "Show a Firebase installation: project, use, and how many registrations it has.",
            arguments: [installation]),
        Command(
            "installations revoke", "Revoke the tokens of a Firebase installation.",
            details: [
                "Its refresh token and access tokens stop working at once, and its ID is given to nobody else; the app makes a new installation when it is next refused. Its registrations stay until the app or the device ends them."
            ],
            arguments: [installation]),
    ]

    private static let installation = Argument("INSTALLATION", "The Firebase installation ID, 22 characters.")

    private static let topicCommands = [
        Command(
            "topics list", "List the topics, with how many subscribe to each.",
            details: [
                "A topic is there as long as somebody subscribes to it. Its subscribers are counted one by one: a million take a second or so."
            ],
            options: [
                Option("--sender", .integer(1...Int.max), "N", "Only the topics of one sender."),
                Option("--limit", .integer(1...10_000), "N", "List so many at most.", preset: "100"),
                Option("--after", .text, "SENDER_ID/TOPIC", "Go on after this topic."),
            ],
            examples: [
                Example("Those of one sender", "ccsctl topics list --sender 100000000001")
            ]),
        Command(
            "topics running", "List the messages to topics and conditions that are still being sent.",
            details: [
                "DONE of TOTAL subscribers have been gone through, and SENT of them were sent the message: it is not for those who have left the topic, or who do not meet the rest of a condition. Of a condition that reaches who subscribes to nothing there is no total."
            ],
            options: [
                Option("--limit", .integer(1...10_000), "N", "List so many at most.", preset: "20")
            ]),
    ]

    private static let offlineCommands = [
        Command("config sample", "Print a configuration file with every key, its default and what it does."),
        Command("config docs", "Print the reference of all configuration keys (Markdown)."),
        Command(
            "explain", "Say what a word of logs, metrics or exit codes means.",
            arguments: [
                Argument(
                    "WORD", "A close reason, refusal, milestone or metric; without: all of them.",
                    isOptional: true)
            ],
            examples: [Example("Why did it close", "ccsctl explain slow_consumer")]),
        Command(
            "man", "Print the manual page of a program (roff).",
            arguments: [
                Argument("PROGRAM", "The program.", choices: ["ccsd", "ccsctl", "ccs-device", "ccs-bench"])
            ],
            examples: [Example("Read it", "ccsctl man ccsd | man -l -")]),
        Command(
            "completion", "Print the completion of all programs for a shell.",
            arguments: [Argument("SHELL", "The shell.", choices: ["bash"])],
            examples: [Example("Use it now", "source <(ccsctl completion bash)")]),
        Command("version", "Print the version of ccsctl, and of the daemon if it runs."),
    ]
}
