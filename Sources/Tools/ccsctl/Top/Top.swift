import Basics
import Catalogue
import Client
import Glibc
import Operator
import Wire

/// The command `top`: repeats the figures until it is interrupted.
struct Top {
    private let address: DaemonAddress
    private let interval: Int
    private let isJSON: Bool
    private let isOnce: Bool

    /// Reads the options.
    init(_ invocation: Invocation) throws(Failure) {
        address = try DaemonAddress.find(invocation)
        interval = invocation.integer("--interval") ?? Limits.Client.topIntervalSeconds
        isJSON = invocation.has("--json")
        // Scripts get one answer unless they ask for more.
        let isForScript = isJSON || isatty(STDOUT_FILENO) != 1
        isOnce = invocation.has("--once") || isForScript && invocation.integer("--interval") == nil
    }

    /// Runs the command. Returns the exit code.
    func run() throws(Failure) -> ExitCode {
        if isJSON || isOnce || isatty(STDOUT_FILENO) != 1 { return try print() }
        let screen = TerminalScreen()
        screen.enter()
        defer { screen.leave() }
        var previous: ShowFigures.Answer?
        while true {
            let current = try figures()
            let size = TerminalScreen.size
            let lines = TopScreen(previous: previous, current: current)
                .lines(width: size.columns, height: size.rows - 1)
            screen.draw(lines, "every \(interval) s; Ctrl-C ends")
            previous = current
            switch screen.wait(seconds: interval) {
            case .redraw: continue
            case .end: return .success
            }
        }
    }

    /// Prints answers as JSON, or screens as text: once or until it is interrupted.
    private func print() throws(Failure) -> ExitCode {
        var previous = try figures()
        if isJSON {
            Output.write(previous.json)
            if isOnce { return .success }
        }
        while !StandardOutput.hasFailed {
            sleep(UInt32(interval))
            let current = try figures()
            if isJSON {
                Output.write(current.json)
            } else {
                let lines = TopScreen(previous: previous, current: current).lines(width: nil, height: nil)
                Output.write(lines.joined(separator: "\n") + "\n")
                if isOnce { return .success }
                Output.write("\n")
            }
            previous = current
        }
        return .success
    }

    private func figures() throws(Failure) -> ShowFigures.Answer {
        var daemon = try DaemonConnection(address)
        return try daemon.answer(to: ShowFigures())
    }
}
