import Catalogue

extension Program {
    /// The comparison: the options of ccs-bench, and one command.
    static let ccsCompare = {
        var program = Program.ccsBench
        program.name = "ccs-compare"
        program.summary = "compares ccsd with other messaging servers"
        program.details = []
        program.commands = [
            Command(
                "",
                "Compare ccsd with a minimal relay and with other messaging servers, in alternating rounds.",
                details: [
                    "The lower bound is the minimal relay of `ccs-bench relay`. mosquitto (MQTT), NATS (core, without JetStream), ejabberd and Prosody (plain XMPP) are Debian's versions, each on loopback in the scratch folder, without privileges and tuned for throughput; servers that are not installed are left out. `Scripts/bootstrap --peers` installs them.",
                    "Each sender has its own receiver, and all messages have the same size. First many clients log in at each server and stay for a moment, to measure the CPU of a login with a full TLS handshake and the memory of an idle connection. Then each load is measured with full windows, in alternating rounds; the table has the medians. The meaning of an ACK differs between the servers; see the last column.",
                    "If the generator uses a whole processor, higher throughputs may be possible; the CPU per message is counted for the server only and remains valid.",
                ], options: options)
        ]
        program.examples = [
            Example("Compare all servers", "ccs-compare --connections 10 --half"),
            Example("Compare two loads", "ccs-compare --only ccsd-down --only mosquitto-qos1 --seconds 3"),
        ]
        return program
    }()

    private static let options =
        [
            Option(
                "--only", .text, "NAME", "Measure only this load or server, such as ccsd-down or mosquitto.",
                preset: "all", isRepeatable: true),
            Option(
                "--idle", .integer(0...15_000), "N",
                "The number of idle connections to measure; 0 skips this part.", preset: "1000"),
            Option(
                "--half",
                "Also measure at half of the maximum throughput, with messages at random times (open loop)."),
            Option(
                "--batches",
                "Put messages sent at the same time into one TLS record. By default each has its own record, which costs some servers more."
            ),
            Option(
                "--rounds", .integer(1...100), "N", "The number of measurements of each load.", preset: "3"),
            Option(
                "--curve",
                "Also measure at five fractions of the maximum throughput; with --json, Scripts/plot.py draws latency against load."
            ),
        ] + shared.filter { ["--connections", "--window", "--size", "--reactors"].contains($0.name) }

    private static var shared: [Option] {
        Program.ccsBench.commands.first { $0.name == "down" }?.options ?? []
    }
}
