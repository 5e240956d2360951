/// The description of a program, by which its arguments are parsed and its help, man page and completion are printed.
public struct Program: Sendable {
    /// The name of the executable.
    public var name: String
    /// A one-line description.
    public var summary: String
    /// Further paragraphs of the description.
    public var details: [String]
    public var commands: [Command]
    /// Options of all commands.
    public var options: [Option]
    /// Environment variables that it reads.
    public var variables: [(name: String, meaning: String)]
    /// Files that it uses.
    public var files: [(path: String, meaning: String)]
    /// The examples of the whole program; commands have their own.
    public var examples: [Example]
    /// The exit codes that it may end with.
    public var exitCodes: [ExitCode]
    /// The section of its man page.
    public var section: Int

    /// The command that runs when none is named; `nil` if one must be named.
    public var mainCommand: Command? { commands.first { $0.words.isEmpty } }

    /// All options that are allowed without a command.
    var mainOptions: [Option] {
        var options = mainCommand?.options ?? []
        options += self.options
        options += Program.common
        return options
    }

    /// The options that every program has.
    public static let common = [
        Option("--help", "Print this help, or that of one command, and exit."),
        Option("--version", "Print the version and commit, and exit."),
    ]

    /// All programs.
    public static let all = [ccsd, ccsctl, ccsDevice, ccsBench]

    /// The programs that packages contain: all but the benchmark, which belongs to the sources.
    public static let packaged = [ccsd, ccsctl, ccsDevice]
}

/// The exit code of a program, numbered as in sysexits(3), which systemd and scripts understand; those from 10 to 23 are of
/// `ccsctl health` alone.
public enum ExitCode: Int32, Sendable, CaseIterable {
    case success = 0
    case failure = 1
    case storeFailing = 10
    case notServing = 11
    case registryFull = 12
    case diskLow = 13
    case descriptorsLow = 14
    case certificateExpiring = 15
    case apnsCertificateExpiring = 16
    case clockInDoubt = 17
    case logDisconnected = 18
    case clusterAlarm = 19
    case storeDamaged = 20
    case reloadFailed = 21
    case clusterDegraded = 22
    case gatewayFailing = 23
    case usage = 64
    case badData = 65
    case unavailable = 69
    case software = 70
    case inputOutput = 74
    case restart = 75
    case noPermission = 77
    case configuration = 78

    /// The meaning, as help and man pages show it.
    public var meaning: String {
        switch self {
        case .success: "Done."
        case .failure: "The request was understood and refused, or a check failed."
        case .storeFailing: "health: the store accepts no writes."
        case .notServing: "health: the daemon is draining, drained or stopping."
        case .registryFull: "health: the registry is full, or nearly."
        case .diskLow: "health: little space is left on the disk of the store."
        case .descriptorsLow:
            "health: most of the file descriptors are in use, or connections are refused for lack of them."
        case .certificateExpiring: "health: the certificate has expired, or will within two weeks."
        case .apnsCertificateExpiring:
            "health: a certificate for APNs has expired, or will within two weeks."
        case .clockInDoubt: "health: the clock of the machine is implausible."
        case .logDisconnected: "health: the node has no connection to the log of its cluster."
        case .clusterAlarm: "health: the cluster has an alarm; ccsctl cluster status lists all."
        case .storeDamaged: "health: a table of the store cannot be read; ccsctl health names it."
        case .reloadFailed: "health: the last reload failed; the old settings stay in use."
        case .clusterDegraded:
            "health: the cluster works, and a node or a copy of its log is missing; ccsctl cluster status names it."
        case .gatewayFailing:
            "health: messages to Apple or to webhooks do not leave; ccsctl health names the cause."
        case .usage: "The command line is wrong."
        case .badData: "A file or standard input has invalid content."
        case .unavailable: "The daemon is not running, or cannot be reached."
        case .software: "A bug in ccsd: please report it."
        case .inputOutput: "A file, folder, port, socket or disk failed, or is in use by another process."
        case .restart:
            "The node has copied the store of another one, and uses it once ccsd is started again, which systemd does."
        case .noPermission: "The user is not permitted to do this."
        case .configuration: "The configuration is wrong; each mistake is printed with its line and column."
        }
    }
}
