extension Program {
    /// The simulated device.
    public static let ccsDevice = Program(
        name: "ccs-device", summary: "simulates one device or thousands",
        details: [
            "ccs-device behaves like a phone: it checks in, registers, keeps a connection, prints received messages and sends upstream messages.",
            "The identity of the device is stored in a state file; treat the file like a password.",
        ],
        commands: [
            Command(
                "register", "Check in, register with a sender and print the token.",
                details: [
                    "With an existing state file, the same device gets another registration.",
                    "A web app gets an endpoint for application servers, and keys that are stored in the state file; with --sender also a token, for which the server encrypts the messages.",
                ],
                options: [
                    Option(
                        "--sender", .integer(1...Int.max), "ID",
                        "The sender ID to register with; optional only for a web app."),
                    Option(
                        "--app", .text, "NAME",
                        "The package name of the app; for a web app the name with which its browser registers.",
                        preset: "com.example.app; with --web org.chromium.linux"),
                    Option("--web", "Register as a web app, which gets encrypted messages."),
                    Option(
                        "--web-key", .text, "KEY",
                        "The public key of the application server that is allowed to post, in base64url.",
                        preset: "the key that the client libraries use"),
                    instance, printToken, tokenFile,
                ],
                examples: [
                    Example("Register", "ccs-device register --sender 100000000001"),
                    Example(
                        "Store the token in a variable",
                        "TOKEN=$(ccs-device register --sender 100000000001 --print-token)"),
                    Example(
                        "Register as a web app whose messages the server encrypts",
                        "ccs-device register --web --sender 100000000001"),
                ]),
            Command(
                "unregister", "Unregister the app, which invalidates its token.",
                options: [
                    Option("--sender", .integer(1...Int.max), "ID", "The sender ID.", isRequired: true),
                    Option("--app", .text, "NAME", "The package name of the app.", preset: "com.example.app"),
                ]),
            Command(
                "listen", "Log in, print each message and acknowledge it.",
                details: [
                    "The device reconnects when the connection ends. The IDs of received messages are stored in the state file, so no message is printed twice.",
                    "Exits with 0 after --count messages, with 1 and the reason if they did not arrive in time, and with 69 if the server cannot be reached.",
                    eventsHelp,
                ],
                options: [
                    Option(
                        "--sender", .integer(1...Int.max), "ID",
                        "Register with this sender first, unless the app is already registered with it."),
                    Option("--app", .text, "NAME", "The package name of the app.", preset: "com.example.app"),
                    instance, printToken, tokenFile,
                    Option("--count", .integer(1...1_000_000_000), "N", "Exit after N messages."),
                    Option(
                        "--timeout", .integer(1...31_536_000), "SECONDS",
                        "Fail if --count messages have not arrived after this time."),
                    Option("--seconds", .integer(1...31_536_000), "N", "Exit after N seconds."),
                ] + behaviour,
                examples: [
                    Example("Wait for one message", "ccs-device listen --count 1 --timeout 30 --json"),
                    Example(
                        "Simulate an idle phone that loses its network",
                        "ccs-device listen --idle --flap-seconds 30"),
                ]),
            Command(
                "send", "Send an upstream message and wait until the server acknowledges it.",
                details: ["The app must be registered with the sender; see register."],
                arguments: [
                    Argument(
                        "KEY=VALUE", "A key-value pair of the payload.", isOptional: true, isRepeatable: true)
                ],
                options: [
                    Option(
                        "--sender", .integer(1...Int.max), "ID", "The sender ID of the recipient.",
                        isRequired: true),
                    Option("--app", .text, "NAME", "The package name of the app.", preset: "com.example.app"),
                    Option("--message-id", .text, "ID", "The message_id.", preset: "a random one"),
                    Option(
                        "--time-to-live", .integer(0...86_400), "SECONDS", "The lifetime of the message.",
                        preset: "86400"),
                ],
                examples: [Example("Send one pair", "ccs-device send --sender 100000000001 text=hello")]),
            Command(
                "many", "Register and log in many devices at once, and count the received messages.",
                details: [
                    "Exits with 1 if a device could not log in, or if fewer than --count messages arrived.",
                    eventsHelp,
                ],
                options: [
                    Option(
                        "--sender", .integer(1...Int.max), "ID", "The sender ID to register with.",
                        isRequired: true),
                    Option("--app", .text, "NAME", "The package name of the app.", preset: "com.example.app"),
                    Option("--instance", .text, "ID", "The instance of the app, the same on each device."),
                    Option("--devices", .integer(1...100_000), "N", "The number of devices.", preset: "100"),
                    Option("--seconds", .integer(1...31_536_000), "N", "Exit after N seconds.", preset: "60"),
                    Option(
                        "--count", .integer(1...1_000_000_000), "N",
                        "Exit as soon as all devices together have received N messages."),
                    Option("--tokens", .path, "FILE", "Write the tokens to a file, one per line."),
                    Option("--events", "Print the events of each device, not only the totals."),
                ] + behaviour,
                examples: [
                    Example(
                        "Simulate a fleet that sends upstream and loses its connections",
                        "ccs-device many --sender 100000000001 --devices 1000 --send-rate 200 --flap-seconds 60"
                    )
                ]),
            Command(
                "converse", "Let an app server and a new device exchange messages, and print the exchange.",
                details: [
                    "Prints a message in each direction with its acknowledgements, and one that waits for an offline device. The state file is not used."
                ],
                options: [
                    Option("--sender", .integer(1...Int.max), "ID", "The sender ID.", isRequired: true),
                    Option(
                        "--key-file", .path, "FILE", "File whose first line is the server key of the sender.",
                        isRequired: true),
                    Option("--app", .text, "NAME", "The package name of the app.", preset: "com.example.app"),
                    Option(
                        "--app-server-port", .integer(1...65_535), "PORT",
                        "The server's port for app servers.",
                        preset: "5235"),
                ],
                examples: [
                    Example(
                        "Show both directions",
                        "ccs-device converse --sender 100000000001 --key-file ccs-data/first-sender.key")
                ]),
            Command(
                "flap", "Log in and break the connection repeatedly.",
                options: [
                    Option(
                        "--times", .integer(1...1_000_000), "N", "The number of connections.", preset: "10"),
                    Option(
                        "--every-milliseconds", .integer(1...3_600_000), "N", "The time between two breaks.",
                        preset: "1000"),
                ]),
        ],
        options: [
            Option("--server", .text, "HOST", "The name or address of the server.", preset: "127.0.0.1"),
            Option(
                "--device-port", .integer(1...65_535), "PORT", "The server's port for devices.",
                preset: "5228"),
            Option(
                "--https-port", .integer(1...65_535), "PORT",
                "The server's port for check-in and registration.", preset: "8443"),
            Option("--ca", .path, "FILE", "The CA certificate to trust.", preset: "./ccs-data/ca.pem"),
            Option("--insecure", "Trust any certificate; for tests on your own machine only."),
            Option(
                "--state", .path, "FILE", "The state file with the device's identity.",
                preset: "./ccs-device.json"),
            Option(
                "--json", .boolean, "", "Print one JSON object per line, for programs.",
                preset: "true if the output is not a terminal"),
        ],
        variables: [],
        files: [
            (path: "./ccs-device.json", meaning: "The state: Android ID, security token, registrations.")
        ],
        examples: [
            Example("Register", "ccs-device register --sender 100000000001"),
            Example("Print received messages", "ccs-device listen"),
        ],
        exitCodes: [.success, .failure, .usage, .badData, .unavailable, .software, .inputOutput],
        section: 1)

    private static let instance = Option(
        "--instance", .text, "ID",
        "The instance ID of the app; a new one simulates a reinstalled app, which gets a new token.",
        preset: "the previous one, initially ccs-device")
    private static let printToken = Option(
        "--print-token", "Print only the token, as soon as the app is registered.")
    private static let tokenFile = Option(
        "--token-file", .path, "FILE",
        "Write the token to a file atomically, as soon as the app is registered.")

    private static let eventsHelp =
        "With --json each event is one JSON object per line with event, time (UTC) and further fields; docs/ci-example.md lists them."

    /// Options for the behaviour of devices, correct or deliberately faulty.
    private static let behaviour = [
        Option(
            "--ack", .choice(["stream", "every-10", "selective", "twice", "login", "never"]), "HOW",
            "Acknowledge by stream ack, by stream ack only every ten messages, by message IDs (selective), by message IDs twice, only at the next login, or never.",
            preset: "stream"),
        Option("--no-ack", "The same as --ack never: every message is delivered again."),
        Option("--replay", "Repeat in each login the IDs acknowledged in earlier logins."),
        Option(
            "--half-close",
            "Shut down the sending direction of the connection after the login, and keep reading."),
        Option("--idle", "Report in heartbeats that the device is idle."),
        Option(
            "--heartbeat-seconds", .integer(1...86_400), "N", "The interval of heartbeats.", preset: "600"),
        Option(
            "--send-rate", .integer(1...100_000), "N",
            "Send N upstream messages per second, over all devices."),
        Option(
            "--flap-seconds", .integer(1...86_400), "N",
            "Break the connection of each device every N seconds; the device reconnects."),
    ]
}
