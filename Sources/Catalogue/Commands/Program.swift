/// A program: what `--help`, the man page and the completion are printed from, and what its arguments are parsed by.
public struct Program: Sendable {
    /// The name of the executable.
    public var name: String
    /// One line: what it is.
    public var summary: String
    /// More about it, in paragraphs.
    public var details: [String]
    /// What it does.
    public var commands: [Command]
    /// Options of all commands.
    public var options: [Option]
    /// Environment variables that it reads.
    public var variables: [(name: String, meaning: String)]
    /// Files that it uses.
    public var files: [(path: String, meaning: String)]
    /// Lines to copy.
    public var examples: [Example]
    /// Exit codes that it gives.
    public var exitCodes: [ExitCode]
    /// Section of its man page.
    public var section: Int

    /// What the program does when no word is given; nil: a word is needed.
    public var mainCommand: Command? { commands.first { $0.words.isEmpty } }

    /// The options that every program has.
    public static let common = [
        Option("--help", "Print this help, or that of one command, and exit."),
        Option("--version", "Print the version and exit."),
    ]

    /// All programs.
    public static let all = [ccsd, ccsctl, ccsDevice, ccsBench]

    /// The version of all programs.
    public static let version = "0.1.0"
}

/// How a program ended; the numbers are those of sysexits(3), which systemd and scripts know.
public enum ExitCode: Int32, Sendable, CaseIterable {
    case success = 0
    case failure = 1
    case usage = 64
    case badData = 65
    case unavailable = 69
    case software = 70
    case inputOutput = 74
    case noPermission = 77
    case configuration = 78

    /// What it means.
    public var meaning: String {
        switch self {
        case .success: "Done."
        case .failure: "The request was understood and refused, or a check failed."
        case .usage: "The command line is wrong."
        case .badData: "What was read from a file or from standard input is wrong."
        case .unavailable: "The daemon is not running, or cannot be reached."
        case .software: "A fault of ours: please report it."
        case .inputOutput: "A file, folder, port, socket or disk failed, or is in use by another process."
        case .noPermission: "The user may not do this."
        case .configuration: "The configuration is wrong; each mistake is printed with its line and column."
        }
    }
}
