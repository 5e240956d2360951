import Operator

extension Program {
    /// The operator's tool.
    public static let ccsctl = Program(
        name: "ccsctl", summary: "the operator's tool of ccsd",
        details: [
            "ccsctl talks to a running ccsd over its control socket. Without --socket it takes $CCSD_CONTROL_SOCKET, else ./ccs-data/control.sock, else /run/ccsd/control.sock, whichever exists first.",
            "Server keys are never arguments, which every user of the machine can read: give them by --key-file or --key-stdin.",
        ],
        commands: OperationName.allCases.map(\.form.command) + offlineCommands,
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

    /// What needs no daemon.
    private static let offlineCommands = [
        Command("config sample", "Print a configuration file with every key, its default and what it does."),
        Command("config docs", "Print the reference of all configuration keys (Markdown)."),
        Command(
            "operations",
            "Print the reference of all operations: role, arguments, answers and lines (Markdown)."),
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
