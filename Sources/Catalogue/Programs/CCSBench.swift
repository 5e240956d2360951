extension Program {
    /// Load and figures.
    package static let ccsBench = Program(
        name: "ccs-bench", summary: "measures ccsd: each figure of the README is a command of it",
        details: [
            "It starts a ccsd of its own on loopback in a scratch folder, unless told which one to use."
        ],
        commands: [
            Command(
                "downstream", "Messages per second, latency and server CPU per downstream message.",
                options: load + [
                    Option("--durable", "Give each message a lifetime, so that it is on disk before its ACK.")
                ],
                examples: [
                    Example("Durable, 10 connections", "ccs-bench downstream --durable --connections 10")
                ]),
            Command("upstream", "The same for upstream messages.", options: load),
            Command(
                "relay", "The same load through a minimal relay, for comparison.", options: load),
            Command(
                "idle", "Memory per idle device connection.",
                options: [Option("--devices", .integer(1...1_000_000), "N", "How many.", preset: "5000")]),
            Command(
                "slowloris", "Good clients beside many that send one byte at a time.",
                options: [
                    Option("--connections", .integer(1...100_000), "N", "Slow connections.", preset: "1000")
                ]),
            Command(
                "drain", "What a drain does to many app servers: losses and the peak of reconnects.",
                options: [
                    Option(
                        "--connections", .integer(1...100_000), "N", "App server connections.", preset: "1000"
                    )
                ]),
            Command("all", "All of the above, in a table for the README."),
        ],
        options: [
            Option("--ccsd", .path, "PROGRAM", "The ccsd to start.", preset: "the one beside ccs-bench"),
            Option("--seconds", .integer(1...86_400), "N", "How long to measure.", preset: "10"),
            Option("--json", "Print one JSON object, for programs."),
        ],
        variables: [], files: [],
        examples: [Example("Everything, as in the README", "ccs-bench all")],
        exitCodes: [.success, .failure, .usage, .unavailable, .software, .inputOutput],
        section: 1)

    private static let load = [
        Option("--connections", .integer(1...10_000), "N", "App server connections.", preset: "1"),
        Option(
            "--window", .integer(1...100), "N", "Messages sent and not yet answered, on each.", preset: "100"),
        Option("--devices", .integer(1...100_000), "N", "Devices that receive.", preset: "100"),
        Option("--messages", .integer(1...1_000_000_000), "N", "Stop after so many."),
    ]
}
