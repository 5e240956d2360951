import Basics
import Operator

extension Program {
    /// The command-line tool for operators.
    public static let ccsctl = Program(
        name: "ccsctl", summary: "controls a running ccsd",
        details: [
            "ccsctl sends commands to a running ccsd over its control socket. Without --socket it uses $CCSD_CONTROL_SOCKET if that is set, else ./ccs-data/control.sock if that exists, else /run/ccsd/control.sock.",
            "With --server and --token-file it sends them to the operator API of another machine instead (operator_api: true); ccsctl operators add creates a token there. Files and folders in arguments are read and written here, except those of backup, which ccsd writes.",
            "Server keys cannot be given as arguments, which every user of the machine can read: use --key-file or --key-stdin.",
        ],
        commands: Operations.all.map { OperationForm.of($0).command } + offlineCommands,
        options: [
            Option("--socket", .path, "PATH", "The control socket of the daemon."),
            Option(
                "--server", .text, "URL",
                "Use the operator API at https://HOST:PORT, in place of a control socket."),
            Option(
                "--token-file", .path, "FILE",
                "The file with the token of an operator, with mode 0600; for --server."),
            Option(
                "--ca-file", .path, "FILE",
                "The authorities (PEM) that are trusted for --server. Default: those of the system."),
            Option("--json", "Print the answer as one JSON object, for programs."),
        ],
        variables: [
            (name: "CCSD_CONTROL_SOCKET", meaning: "The control socket, if --socket is not given.")
        ],
        files: [
            (
                path: "./ccs-data/control.sock",
                meaning: "The control socket of a ccsd that was started in this directory without options."
            ),
            (path: "/run/ccsd/control.sock", meaning: "The control socket of the service."),
        ],
        examples: [
            Example("Show the status of the daemon", "ccsctl status"),
            Example("Add a sender; its key is shown only once", "ccsctl senders add --label shop"),
            Example("Check whether any message was lost", "ccsctl audit"),
            Example("Watch rates, latencies and senders", "ccsctl top"),
            Example("Test in a script whether all is well", "ccsctl health"),
        ],
        exitCodes: [
            .success, .failure, .storeFailing, .notServing, .registryFull, .diskLow, .descriptorsLow,
            .certificateExpiring, .apnsCertificateExpiring, .clockInDoubt, .logDisconnected, .clusterAlarm,
            .clusterDegraded, .storeDamaged, .reloadFailed, .gatewayFailing, .usage, .badData, .unavailable,
            .software, .inputOutput, .noPermission, .configuration,
        ],
        section: 1)

    /// The commands that need no daemon.
    private static let offlineCommands = [
        foundCluster, addNode,
        Command(
            "config sample", "Print a configuration file with every key, its default and its description."),
        Command("config docs", "Print the reference of all configuration keys (Markdown)."),
        Command(
            "operations",
            "Print the reference of all operations: roles, arguments and answers (Markdown)."),
        Command("metrics docs", "Print the reference of all metrics and alerts (Markdown)."),
        Command("metrics alerts", "Print alert rules for Prometheus (YAML)."),
        Command(
            "metrics dashboard", "Print a dashboard for Grafana (JSON).",
            examples: [
                Example(
                    "Import it in Grafana: Dashboards, New, Import", "ccsctl metrics dashboard")
            ]),
        Command(
            "schema", "Print the JSON Schema of what commands print with --json.",
            details: [
                "Without COMMAND, one document has the schemas of all commands, of the lines that some print before, and of errors. Its version is raised when a field is renamed, removed or changes its meaning; further fields may appear in any release."
            ],
            arguments: [
                Argument(
                    "COMMAND", "The words of a command, or error. Default: all.", isOptional: true,
                    isRepeatable: true)
            ],
            examples: [Example("Print the schema of one command", "ccsctl schema senders list")]),
        Command(
            "explain", "Explain a word of logs, metrics or alerts, a config key or an exit code.",
            arguments: [
                Argument(
                    "WORD",
                    "A log event, close reason, refusal, milestone, alarm, alert, metric, config key or exit code. Default: all.",
                    isOptional: true)
            ],
            examples: [Example("Explain a close reason", "ccsctl explain slow_consumer")]),
        Command(
            "man", "Print the manual page of a program (roff).",
            arguments: [
                Argument("PROGRAM", "The program.", choices: ["ccsd", "ccsctl", "ccs-device", "ccs-bench"])
            ],
            examples: [Example("Read the page of ccsd", "ccsctl man ccsd | man -l -")]),
        Command(
            "completion", "Print a completion script for all programs.",
            arguments: [Argument("SHELL", "The shell.", choices: Completion.shells)],
            examples: [
                Example("Enable completion in the current bash", "source <(ccsctl completion bash)"),
                Example("Enable completion in the current zsh", "source <(ccsctl completion zsh)"),
                Example("Enable completion in the current fish", "ccsctl completion fish | source"),
            ]),
        Command("version", "Print the version of ccsctl, and of the daemon if it is running."),
    ]

    private static let foundCluster = Command(
        "cluster found", "Found a cluster: create its logs, and a folder for each of its nodes.",
        details: [
            "DIRECTORY gets a folder node-1, node-2, … for each --node in their order, and the folder authority, which can add nodes. Copy each node's folder to its machine, readable by the user of ccsd only, and name it there as cluster_directory. Keep the folder authority elsewhere.",
            "The logs are streams of NATS JetStream, one for each partition. NATS must run with sync_interval: always, on three servers for three replicas; with --log-monitor that is checked, now and by the nodes once a minute.",
        ],
        arguments: [Argument("DIRECTORY", "The directory that gets the folders.")],
        options: [
            Option(
                "--node", .text, "HOST:PORT",
                "Where the other nodes reach a node; once for each node, at least once.", isRepeatable: true,
                isRequired: true),
            Option(
                "--log-server", .text, "HOST:PORT", "A server of NATS; once for each server.",
                isRepeatable: true, isRequired: true),
            Option(
                "--log-monitor", .text, "HOST:PORT",
                "The monitoring port of a server of NATS (http in its configuration), to be asked whether it syncs; once for each server.",
                isRepeatable: true),
            Option(
                "--partitions", .integer(1...Limits.Cluster.partitions), "N",
                "The number of partitions, for ever: some five for each node.",
                preset: "\(Limits.Partition.count)"),
            Option(
                "--replicas", .integer(1...5), "N", "How many servers keep each log: 1, 3 or 5.",
                preset: "3"),
            Option(
                "--log-prefix", .text, "WORD",
                "What the names of streams and subjects begin with; two clusters in one account need two.",
                preset: "ccs"),
            Option(
                "--export", .text, "PATH",
                "Take the secret of the tokens from a file of ccsctl export, to be imported afterwards: its tokens stay valid."
            ),
            Option("--log-user", .text, "NAME", "The user at NATS; needs --log-password-file."),
            Option("--log-password-file", .text, "PATH", "The file with the password of --log-user."),
            Option("--log-token-file", .text, "PATH", "The file with a token for NATS."),
            Option("--log-nkey-file", .text, "PATH", "The file with an NKey seed for NATS."),
            Option("--log-credentials-file", .text, "PATH", "A credentials file for NATS."),
            Option(
                "--log-ca-file", .text, "PATH",
                "Use TLS; the PEM file of the authorities of NATS. Empty: those of the system."),
        ],
        examples: [
            Example(
                "Found a cluster of three machines, on each of which a nats-server runs",
                "ccsctl cluster found cluster --node 10.0.0.1:5240 --node 10.0.0.2:5240 --node 10.0.0.3:5240 --log-server 10.0.0.1:4222 --log-server 10.0.0.2:4222 --log-server 10.0.0.3:4222"
            )
        ])

    private static let addNode = Command(
        "cluster add", "Add a node to a cluster: make the folder for it.",
        details: [
            "DIRECTORY is that of ccsctl cluster found, with the folder authority and that of the node with the highest number. Copy the new folder to its machine, readable by the user of ccsd only, and name it there as cluster_directory. The running nodes accept the new one without a restart."
        ],
        arguments: [Argument("DIRECTORY", "The directory with the folders of the cluster.")],
        options: [
            Option(
                "--node", .text, "HOST:PORT", "Where the other nodes reach the new node.", isRequired: true)
        ],
        examples: [Example("Add a fourth machine", "ccsctl cluster add cluster --node 10.0.0.4:5240")])
}
