import Basics
import Catalogue
import Client
import Glibc
import Operator
import Wire

/// The main program of `ccsctl`.
enum Tool {
    /// Runs a command line. Returns the exit code.
    static func main(_ arguments: [String]) -> ExitCode {
        // --json applies even if the command line is invalid.
        let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
        do throws(UsageError) {
            switch try ArgumentParser.parse(arguments, for: .ccsctl) {
            case .print(let text):
                if isJSON { Output.write(TextOutput(text: text).json) } else { Output.write(text) }
                return .success
            case .run(let invocation): return run(invocation)
            }
        } catch {
            return Output.fail(.usage, error.problem, hint: error.hint, isJSON: isJSON)
        }
    }

    private static func run(_ invocation: Invocation) -> ExitCode {
        if let code = Offline.run(invocation) { return code }
        if invocation.command.name == "check", let file = invocation.arguments.first {
            return CheckFile.run(file, isJSON: invocation.has("--json"))
        }
        do throws(Failure) {
            return try ask(invocation)
        } catch {
            return Output.fail(
                ExitCode(rawValue: error.code.rawValue) ?? .failure, error.problem, hint: error.hint,
                isJSON: invocation.has("--json"))
        }
    }

    /// Sends the command to the daemon and prints the answer.
    private static func ask(_ invocation: Invocation) throws(Failure) -> ExitCode {
        guard let operation = Operations.named(invocation.command.name) else {
            throw Failure(.software, "\(invocation.command.name) is not an operation")
        }
        switch operation {
        case is AddAccount.Type: return try addAccount(invocation)
        case is ExportRecords.Type: return try ExportFile.run(invocation)
        case is ImportRecords.Type: return try ImportFile.run(invocation)
        case is ShowFigures.Type: return try Top(invocation).run()
        default: break
        }
        let command = try CommandArguments.request(operation, for: invocation)
        try Confirmation.require(command, invocation)
        switch command {
        case let command as MakeBackup: return try makeBackup(command, invocation)
        case let command as ShowAuthority: return try showAuthority(command, invocation)
        case let command as any FollowedCommand where invocation.has("--follow"):
            return try follow(command, invocation, try DaemonAddress.find(invocation))
        case let command as any ReportedCommand:
            return try carryOut(command, invocation, try DaemonAddress.find(invocation))
        default: throw Failure(.software, "\(operation.summary.name) has no text")
        }
    }

    private static func carryOut(
        _ command: some ReportedCommand, _ invocation: Invocation, _ address: DaemonAddress
    ) throws(Failure) -> ExitCode {
        let answer = try answer(to: command, invocation, address)
        show(answer.json, type(of: command).text(of: answer), invocation)
        return type(of: command).verdict(on: answer)
    }

    /// Prints the answer, and then again and again what is new.
    private static func follow<Command: FollowedCommand>(
        _ first: Command, _ invocation: Invocation, _ address: DaemonAddress
    ) throws(Failure) -> ExitCode {
        var (command, known) = (first, HistoryNews())
        for turn in 0..<Limits.History.followSeconds / Limits.History.followPauseSeconds {
            if turn > 0 { sleep(UInt32(Limits.History.followPauseSeconds)) }
            func ask(_ command: Command) throws(Failure) -> Command.Answer {
                try answer(to: command, invocation, address)
            }
            // First the newest messages, up to the limit, and then all that is new.
            let page = turn == 0 ? try ask(command) : try command.allPages(ask)
            let news = known.take(page.messages)
            if turn == 0 || !news.isEmpty {
                show(page.json, news.map { $0.text + "\n" }.joined(), invocation)
            }
            if turn > 0, page.isCut, !news.isEmpty || page.nextBefore != nil {
                Output.printError("ccsctl: more has happened than --follow shows: older steps are left out")
                Output.printError("messages find with --since lists them all, page by page")
            }
            guard !StandardOutput.hasFailed else { break }
            command = command.following(page.latest)
        }
        return .success
    }

    private static func addAccount(_ invocation: Invocation) throws(Failure) -> ExitCode {
        let address = try DaemonAddress.find(invocation)
        let made = try ServiceAccountFile.make(invocation) { command throws(Failure) in
            try answer(to: command, invocation, address)
        }
        show(made.json, made.text, invocation)
        return .success
    }

    private static func makeBackup(
        _ command: MakeBackup, _ invocation: Invocation
    ) throws(Failure) -> ExitCode {
        let address = try DaemonAddress.find(invocation)
        let answer = try answer(to: command, invocation, address)
        show(answer.json, MakeBackup.text(of: answer), invocation)
        if case .server = address { return .success }
        // A service with PrivateTmp has a /tmp of its own, which it shares with no one.
        guard unsafe access(answer.path, F_OK) != 0, errno == ENOENT else { return .success }
        throw Failure(
            .failure, "\(answer.path) is not visible here: ccsd sees another folder under this path",
            hint: "its service has folders of its own, such as /tmp: give a folder elsewhere")
    }

    private static func showAuthority(
        _ command: ShowAuthority, _ invocation: Invocation
    ) throws(Failure) -> ExitCode {
        let address = try DaemonAddress.find(invocation)
        let shown = ShownAuthority(answer: try answer(to: command, invocation, address), invocation)
        try shown.writeFile()
        show(shown.json, shown.text, invocation)
        return .success
    }

    private static func show(_ json: JSONValue, _ text: String, _ invocation: Invocation) {
        if invocation.has("--json") { Output.write(json) } else { Output.write(text) }
    }

    /// Returns the answer of the daemon. Throws if the command is refused.
    private static func answer<Command: ReportedCommand>(
        to command: Command, _ invocation: Invocation, _ address: DaemonAddress
    ) throws(Failure) -> Command.Answer {
        var daemon = try DaemonConnection(address)
        return try daemon.answer(to: command) { line in
            show(OperatorReply(line).json, Command.text(of: line), invocation)
        }
    }
}
