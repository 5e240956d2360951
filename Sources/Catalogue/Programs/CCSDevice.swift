extension Program {
    /// A device on the command line.
    public static let ccsDevice = Program(
        name: "ccs-device", summary: "a device, or ten thousand, on the command line",
        details: [
            "ccs-device does what a phone does: it checks in, registers, keeps a connection, prints what arrives and sends upstream.",
            "What makes it the same device next time is kept in a state file; treat it like a password.",
        ],
        commands: [
            Command(
                "register", "Check in, register with a sender and print the token.",
                details: [
                    "A state file that exists is used again: the same device gets one more registration.",
                    "A web app gets an endpoint that application servers post to, and keys that are kept in the state file; with --sender also a token for which the server encrypts.",
                ],
                options: [
                    Option(
                        "--sender", .integer(1...Int.max), "ID",
                        "The sender ID to register with; only a web app can do without."),
                    Option(
                        "--app", .text, "NAME",
                        "The package name of the app; of a web app the name that its browser registers with.",
                        preset: "com.example.app, with --web org.chromium.linux"),
                    Option("--web", "Register as a web app, whose messages are encrypted for it."),
                    Option(
                        "--web-key", .text, "KEY",
                        "The public key of the application server that may post, in base64url.",
                        preset: "that of the libraries"),
                    instance, printToken, tokenFile,
                ],
                examples: [
                    Example("Register", "ccs-device register --sender 100000000001"),
                    Example(
                        "Keep the token", "TOKEN=$(ccs-device register --sender 100000000001 --print-token)"),
                    Example(
                        "As a web app whose messages the server encrypts",
                        "ccs-device register --web --sender 100000000001"),
                ]),
            Command(
                "unregister", "Give a token back.",
                options: [
                    Option("--sender", .integer(1...Int.max), "ID", "The sender ID.", isRequired: true),
                    Option("--app", .text, "NAME", "The package name of the app.", preset: "com.example.app"),
                ]),
            Command(
                "listen", "Log in, print each message and acknowledge it.",
                details: [
                    "It connects again when the connection ends. What was received is kept in the state file, so that nothing is printed twice.",
                    "Exits with 0 when --count messages have come, with 1 and the reason when they have not in time, with 69 where the server cannot be reached.",
                    eventsHelp,
                ],
                options: [
                    Option(
                        "--sender", .integer(1...Int.max), "ID",
                        "Register with this sender first, where that was not done."),
                    Option("--app", .text, "NAME", "The package name of the app.", preset: "com.example.app"),
                    instance, printToken, tokenFile,
                    Option("--count", .integer(1...1_000_000_000), "N", "Exit after so many messages."),
                    Option(
                        "--timeout", .integer(1...31_536_000), "SECONDS",
                        "Fail where --count messages have not come after so long."),
                    Option("--seconds", .integer(1...31_536_000), "N", "Exit after so long."),
                ] + behaviour,
                examples: [
                    Example("Wait for one message", "ccs-device listen --count 1 --timeout 30 --json"),
                    Example(
                        "A phone in a pocket that loses its network",
                        "ccs-device listen --idle --flap-seconds 30"),
                ]),
            Command(
                "send", "Send one message upstream and wait until the server has it.",
                details: ["The app must be registered with the sender: see register."],
                arguments: [
                    Argument("KEY=VALUE", "A pair of the payload.", isOptional: true, isRepeatable: true)
                ],
                options: [
                    Option(
                        "--sender", .integer(1...Int.max), "ID", "The sender ID that it goes to.",
                        isRequired: true),
                    Option("--app", .text, "NAME", "The package name of the app.", preset: "com.example.app"),
                    Option("--message-id", .text, "ID", "Its message_id.", preset: "drawn at random"),
                    Option(
                        "--time-to-live", .integer(0...86_400), "SECONDS", "How long it may wait.",
                        preset: "86400"),
                ],
                examples: [Example("Say hello", "ccs-device send --sender 100000000001 text=hello")]),
            Command(
                "many", "Register and log in many devices at once, and count what arrives.",
                details: [
                    "Exits with 1 where one of them could not log in, or fewer than --count messages came.",
                    eventsHelp,
                ],
                options: [
                    Option(
                        "--sender", .integer(1...Int.max), "ID", "The sender ID to register with.",
                        isRequired: true),
                    Option("--app", .text, "NAME", "The package name of the app.", preset: "com.example.app"),
                    Option("--instance", .text, "ID", "The instance of the app, the same on each device."),
                    Option("--devices", .integer(1...100_000), "N", "How many.", preset: "100"),
                    Option("--seconds", .integer(1...31_536_000), "N", "Stay so long.", preset: "60"),
                    Option(
                        "--count", .integer(1...1_000_000_000), "N",
                        "Leave as soon as so many messages came, to all of them together."),
                    Option("--tokens", .path, "FILE", "Write their tokens to a file, one a line."),
                    Option("--events", "Print what each of them sees, not only the sums."),
                ] + behaviour,
                examples: [
                    Example(
                        "A fleet that talks, and loses its connections",
                        "ccs-device many --sender 100000000001 --devices 1000 --send-rate 200 --flap-seconds 60"
                    )
                ]),
            Command(
                "converse", "Let an app server and a new device talk through the server, and show it.",
                details: [
                    "It shows a message in each direction with its acknowledgements, and one that waits for a device that is away. The state file is not touched."
                ],
                options: [
                    Option("--sender", .integer(1...Int.max), "ID", "The sender ID.", isRequired: true),
                    Option(
                        "--key-file", .path, "FILE", "File whose first line is its server key.",
                        isRequired: true),
                    Option("--app", .text, "NAME", "The package name of the app.", preset: "com.example.app"),
                    Option(
                        "--app-server-port", .integer(1...65_535), "PORT",
                        "The server's port of app servers.",
                        preset: "5235"),
                ],
                examples: [
                    Example(
                        "See both directions",
                        "ccs-device converse --sender 100000000001 --key-file ccs-data/first-sender.key")
                ]),
            Command(
                "flap", "Log in and break the connection over and over.",
                options: [
                    Option("--times", .integer(1...1_000_000), "N", "How often.", preset: "10"),
                    Option(
                        "--every-milliseconds", .integer(1...3_600_000), "N", "How often it breaks.",
                        preset: "1000"),
                ]),
        ],
        options: [
            Option("--server", .text, "HOST", "Name or address of the server.", preset: "127.0.0.1"),
            Option("--device-port", .integer(1...65_535), "PORT", "Its port of devices.", preset: "5228"),
            Option("--https-port", .integer(1...65_535), "PORT", "Its port of check-in.", preset: "8443"),
            Option("--ca", .path, "FILE", "The CA certificate to trust.", preset: "./ccs-data/ca.pem"),
            Option("--insecure", "Trust any certificate: for tests on your own machine."),
            Option("--state", .path, "FILE", "Who this device is.", preset: "./ccs-device.json"),
            Option(
                "--json", .truth, "", "Print one JSON object a line, for programs.",
                preset: "true where the output is no terminal"),
        ],
        variables: [],
        files: [
            (path: "./ccs-device.json", meaning: "The state: Android id, security token, registrations.")
        ],
        examples: [
            Example("Register", "ccs-device register --sender 100000000001"),
            Example("Print what arrives", "ccs-device listen"),
        ],
        exitCodes: [.success, .failure, .usage, .badData, .unavailable, .software, .inputOutput],
        section: 1)

    private static let instance = Option(
        "--instance", .text, "ID",
        "The instance of the app: another one than before stands for an app that was installed anew, and gets a new token.",
        preset: "that of before, at first ccs-device")
    private static let printToken = Option(
        "--print-token", "Print the token, and nothing else about the registration, as soon as there is one.")
    private static let tokenFile = Option(
        "--token-file", .path, "FILE",
        "Write the token to a file as soon as there is one, whole or not at all.")

    private static let eventsHelp =
        "With --json each event is one object on a line: event, time (UTC), and its own fields; docs/ci-example.md lists them."

    /// How devices behave: as they should, or badly on purpose.
    private static let behaviour = [
        Option(
            "--ack", .choice(["stream", "every-10", "selective", "twice", "login", "never"]), "HOW",
            "Acknowledge by stream ack, only every ten messages, by the ids of the messages, by these said twice, only at the next login, or not even then.",
            preset: "stream"),
        Option("--no-ack", "The same as --ack never: everything comes again."),
        Option("--replay", "Name at each login what was named before, too."),
        Option(
            "--half-close", "End the sending direction of the connection after the login, and go on reading."),
        Option("--idle", "Say in heartbeats that nobody uses the device."),
        Option(
            "--heartbeat-seconds", .integer(1...86_400), "N", "Send a heartbeat so often.", preset: "600"),
        Option(
            "--send-rate", .integer(1...100_000), "N",
            "Send so many messages a second upstream, all together."),
        Option(
            "--flap-seconds", .integer(1...86_400), "N",
            "Break the connection of each device so often; it comes back by itself."),
    ]
}
