extension Program {
    /// The daemon.
    public static let ccsd = Program(
        name: "ccsd",
        summary: "a server for push messages in both directions, between app servers and devices",
        details: [
            "ccsd speaks the XMPP and HTTP protocols of Google Cloud Messaging to app servers and the MCS protocol to devices, so that both keep working against a server of your own.",
            "Without any option it serves loopback only, keeps its state in ./ccs-data, makes its own certificate authority and a first sender, and prints what to do next.",
            "Each option is also a key of the configuration file and an environment variable: --device-port, device_port and CCSD_DEVICE_PORT are the same. Options win over the environment, that wins over the file.",
            "SIGTERM drains the app servers while devices are served, closes the devices last, commits and exits; a second one hurries. SIGHUP reads configuration and certificates again, and keeps the old ones where the new ones are wrong.",
        ],
        commands: [
            Command("", "Run the daemon.", options: daemonOptions),
            Command(
                "check", "Check configuration, certificate, folders, sockets and ports, then exit.",
                details: [
                    "Every fault is printed with file, line and column of the key that it comes from, all in one run: keys and values, the certificate and its key (whether they belong together, dates, strength), the data directory, the control socket and the ports. Nothing is changed.",
                    "Ports and the socket of a ccsd that runs with this configuration are no faults. Exits 78 if there is an error; warnings do not count. Run it as the user that runs ccsd.",
                ],
                options: daemonOptions + [
                    Option("--json", "Print what was found as one JSON object, for programs.")
                ],
                examples: [Example("Check before a reload", "ccsd check --config /etc/ccsd/ccsd.yaml")]),
            Command(
                "accept-loss", "Do without messages that the store has lost, then exit.",
                details: [
                    "Where the journal of the store can no longer be read as far as it was on the disk, ccsd does not start: it names the file, and removes nothing. Copy the folder, check the device, and restore a backup where there is one. This command says that what is missing may be missing: the next start keeps all that can be read, and the rest stays under a name that ends in `.lost`.",
                    "Exits with 0, having changed nothing, where nothing is missing.",
                ], options: daemonOptions,
                examples: [
                    Example("For the service", "ccsd accept-loss --config /etc/ccsd/ccsd.yaml")
                ]),
            Command(
                "openapi", "Print the description of the HTTP interface (OpenAPI 3.1, JSON).",
                details: ["The same as at /openapi.json on the HTTPS port."],
                examples: [Example("What a code generator reads", "ccsd openapi")]),
        ],
        options: [],
        variables: [
            (name: "CCSD_CONFIG", meaning: "The configuration file, where --config is not given."),
            (name: "CCSD_<KEY>", meaning: "The value of any key of the configuration."),
            (
                name: "NOTIFY_SOCKET",
                meaning: "Set by systemd: where readiness and the watchdog are reported."
            ),
            (name: "LISTEN_FDS", meaning: "Set by systemd: sockets handed over, told apart by name."),
        ],
        files: [
            (path: "/etc/ccsd/ccsd.yaml", meaning: "The configuration that the service unit uses."),
            (path: "./ccs-data", meaning: "The state: store, keys, certificate authority, control socket."),
        ],
        examples: [
            Example("Try it: loopback, state in ./ccs-data", "ccsd"),
            Example("Serve with a configuration", "ccsd --config /etc/ccsd/ccsd.yaml"),
            Example(
                "A second one beside it", "ccsd --data-directory ./second --app-server-port 0 --device-port 0"
            ),
        ],
        exitCodes: [.success, .usage, .software, .inputOutput, .noPermission, .configuration],
        section: 8)

    /// `--config`, and one option for each key.
    private static let daemonOptions: [Option] =
        [Option("--config", .path, "FILE", "The configuration file (YAML).")]
        + ConfigKey.allCases.filter { $0 != .format }.map { key in
            let entry = key.entry
            let preset = entry.preset.plain.isEmpty ? nil : entry.preset.plain
            let placeholder = entry.type == .truth ? "" : entry.type.placeholder
            return Option(key.flag, entry.type.option, placeholder, entry.help, preset: preset)
        }

    /// The values that an invocation of the daemon gives for config keys.
    public static func configFlags(of invocation: Invocation) -> [(key: ConfigKey, value: String)] {
        ConfigKey.allCases.compactMap { key in invocation.text(key.flag).map { (key, $0) } }
    }
}

extension ConfigType {
    /// What a flag of this type takes.
    fileprivate var option: OptionValue {
        switch self {
        case .integer(let range): .integer(range)
        case .truth: .truth
        case .port: .integer(0...65_535)
        case .path: .path
        case .choice(let words): .choice(words)
        case .address, .hostName, .hostNames, .networks: .text
        }
    }
}
