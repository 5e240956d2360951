import Client
import Operator

/// A connection to the daemon, for the commands of one run.
struct DaemonConnection: ~Copyable {
    private let path: String
    private var client: ControlClient

    /// Connects to the control socket at a path.
    init(_ path: String) throws(Failure) {
        self.path = path
        do throws(ControlError) { client = try ControlClient(path: path) } catch {
            throw Failure(error, path: path)
        }
    }

    /// Returns the answer to a command. Throws if it is refused; `context` precedes the reason.
    ///
    /// A progress bar shows its reports. `onLine` is called for each line before the answer.
    mutating func answer<Command: OperatorCommand>(
        to command: Command, context: String = "", onLine: (Command.Line) -> Void = { _ in }
    ) throws(Failure) -> Command.Answer {
        let bar = ProgressBar()
        defer { bar.finish() }
        let answer: ControlAnswer<Command.Answer>
        do throws(ControlError) {
            answer = try client.run(
                command, onProgress: { bar.show($0) },
                onLine: { line in
                    bar.finish()
                    onLine(line)
                })
        } catch { throw Failure(error, path: path) }
        switch answer {
        case .done(let answer): return answer
        case .refused(let problem):
            throw Failure(.failure, context + problem.text, hint: problem.hint)
        }
    }
}
