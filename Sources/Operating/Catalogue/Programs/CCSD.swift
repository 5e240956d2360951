extension Program {
    /// The daemon.
    public static let ccsd = Program(
        name: "ccsd",
        summary: "a server for push messages between app servers and devices, in both directions",
        details: [
            "ccsd speaks the XMPP and HTTP protocols of Google Cloud Messaging (FCM) to app servers and the MCS protocol to devices, so both keep working with a server of your own.",
            "Without options it listens on loopback only, keeps its state in ./ccs-data, creates a certificate authority and a first sender, and prints the next steps.",
            "Each option is also a key of the configuration file and an environment variable: --device-port, device_port and CCSD_DEVICE_PORT are the same setting. Options override the environment, and the environment overrides the file.",
            "SIGTERM drains the app servers while devices are still served, then closes the devices, commits and exits; a second SIGTERM ends the drain at once. SIGHUP reloads the configuration and certificates, and keeps the old ones if the new ones are invalid.",
        ],
        commands: [
            Command("", "Run the daemon.", options: daemonOptions),
            Command(
                "check", "Check the configuration, certificate, folders, sockets and ports, then exit.",
                details: [
                    "Prints every mistake with the file, line and column of its key: in keys and values, the certificate and its private key (match, dates, strength), the data directory, the control socket and the ports. Nothing is changed.",
                    "Ports and a control socket in use by a ccsd that runs with this configuration are not errors. Exits with 78 if there is an error; warnings do not count. Run the check as the user that runs ccsd.",
                ],
                options: daemonOptions + [
                    Option("--json", "Print the findings as one JSON object, for programs."),
                    Option(
                        "--store",
                        "Read the store of a stopped ccsd instead: the checksums of all tables, then all records. Exits with 74 and marks the store as damaged if something cannot be read; removes that mark if everything can."
                    ),
                ],
                examples: [
                    Example("Check before a reload", "ccsd check --config /etc/ccsd/ccsd.yaml"),
                    Example(
                        "Read the store before a start", "ccsd check --store --config /etc/ccsd/ccsd.yaml"),
                ]),
            Command(
                "accept-loss", "Allow ccsd to start although the store has lost messages, then exit.",
                details: [
                    "If the journal of the store is damaged or truncated, ccsd does not start: it reports the file and removes nothing. Copy the folder, check the disk, and restore a backup if there is one. This command accepts the loss instead: the next start keeps everything that can be read, and the damaged part remains in a file whose name ends in `.lost`.",
                    "If nothing is missing, it changes nothing and exits with 0.",
                ], options: daemonOptions,
                examples: [
                    Example("For the systemd service", "ccsd accept-loss --config /etc/ccsd/ccsd.yaml")
                ]),
            Command(
                "leave-cluster",
                "Turn the store of a node into that of a daemon without a cluster, then exit.",
                details: [
                    "For a cluster that is given up: stop all its nodes, run this on the one that had applied most, and start ccsd there without cluster_directory. It has everything that the node had. The store cannot join a cluster again, and the other nodes must not go on.",
                    "The data directory is that of the configuration, and no ccsd may use it. If the store belongs to no cluster, nothing is changed.",
                ], options: daemonOptions,
                examples: [
                    Example("For the systemd service", "ccsd leave-cluster --config /etc/ccsd/ccsd.yaml")
                ]),
            Command(
                "restore",
                "Restore a backup of ccsctl backup to a data directory that no ccsd uses, then exit.",
                details: [
                    "Compares every file with its digest, copies the files, opens the store and counts its messages. Only then the data directory changes: a damaged, truncated or interrupted backup, or one of another format, is refused, and nothing is changed.",
                    "The data directory is that of the configuration, as for the daemon: --config, --data-directory. If root runs the command, the files get the owner of the data directory.",
                    "The configuration file, and a certificate of your own with its key, are not part of a backup. Never run the restored server beside the one that was backed up: both would send the same messages.",
                ],
                arguments: [Argument("DIR", "The folder of the backup.")],
                options: daemonOptions + [
                    Option(
                        "--replace",
                        "Accept a data directory that is not empty: its content is moved to a folder in it, replaced-TIME, and nothing is removed."
                    ),
                    Option(
                        "--verify",
                        "Only check that the backup is complete and undamaged. Nothing is written."),
                ],
                examples: [
                    Example("Check a backup", "ccsd restore --verify /mnt/backup/monday"),
                    Example(
                        "Restore to a new machine",
                        "ccsd restore /mnt/backup/monday --data-directory /var/lib/ccsd"),
                ]),
            Command(
                "openapi", "Print the description of an HTTP interface (OpenAPI 3.1, JSON).",
                details: [
                    "Without INTERFACE the one of app servers and devices, as at /openapi.json on the HTTPS port; with operator that of the operator API, as at /operator/v1/openapi.json on the administrative port."
                ],
                arguments: [
                    Argument("INTERFACE", "The interface: operator.", isOptional: true, choices: ["operator"])
                ],
                examples: [Example("Print the input for a code generator", "ccsd openapi")]),
            Command(
                "reference", "Print the reference of an interface of app servers (Markdown).",
                arguments: [
                    Argument("INTERFACE", "The interface: http or xmpp.", choices: ["http", "xmpp"])
                ],
                examples: [Example("Look up an error code", "ccsd reference xmpp")]),
        ],
        options: [],
        variables: [
            (name: "CCSD_CONFIG", meaning: "The configuration file, if --config is not given."),
            (name: "CCSD_<KEY>", meaning: "The value of a key of the configuration."),
            (
                name: "NOTIFY_SOCKET",
                meaning: "Set by systemd: the socket for readiness and watchdog messages."
            ),
            (
                name: "LISTEN_FDS",
                meaning: "Set by systemd: the number of passed sockets, which are identified by name."
            ),
        ],
        files: [
            (path: "/etc/ccsd/ccsd.yaml", meaning: "The configuration that the service unit uses."),
            (
                path: "./ccs-data",
                meaning:
                    "The default data directory: store, keys, certificate authority, control socket, audit log."
            ),
        ],
        examples: [
            Example("Try it on loopback, with the state in ./ccs-data", "ccsd"),
            Example("Run with a configuration file", "ccsd --config /etc/ccsd/ccsd.yaml"),
            Example(
                "Run a second daemon", "ccsd --data-directory ./second --app-server-port 0 --device-port 0"
            ),
        ],
        exitCodes: [
            .success, .usage, .badData, .software, .inputOutput, .restart, .noPermission,
            .configuration,
        ],
        section: 8)

    /// `--config`, and one option for each key.
    private static let daemonOptions: [Option] =
        [Option("--config", .path, "FILE", "The configuration file (YAML).")]
        + ConfigKey.allCases.filter { $0 != .format }.map { key in
            let entry = key.entry
            let preset = entry.preset.plain.isEmpty ? nil : entry.preset.plain
            let placeholder = entry.type == .boolean ? "" : entry.type.placeholder
            return Option(key.flag, entry.type.option, placeholder, entry.help, preset: preset)
        }

    /// Returns the values that an invocation of the daemon gives for config keys.
    public static func configFlags(of invocation: Invocation) -> [(key: ConfigKey, value: String)] {
        ConfigKey.allCases.compactMap { key in invocation.text(key.flag).map { (key, $0) } }
    }
}

extension ConfigType {
    /// The option type for flags of this config type.
    fileprivate var option: OptionValue {
        switch self {
        case .integer(let range): .integer(range)
        case .boolean: .boolean
        case .port: .integer(0...65_535)
        case .path: .path
        case .choice(let words): .choice(words)
        case .address, .hostName, .endpoint, .hostNames, .networks, .origins, .portOrOff: .text
        }
    }
}
