import Client
import Operator
import Transport

/// A connection to the daemon, for the commands of one run.
struct DaemonConnection: ~Copyable {
    private enum Channel {
        case socket(Socket, path: String)
        case server(OperatorClient)
    }

    /// Boxes a client that cannot be copied.
    private final class Socket {
        var client: ControlClient
        init(_ client: consuming ControlClient) { self.client = client }
    }

    private let channel: Channel

    /// Connects to the daemon at an address.
    init(_ address: DaemonAddress) throws(Failure) {
        switch address {
        case .socket(let path):
            do throws(ControlError) {
                channel = .socket(Socket(try ControlClient(path: path)), path: path)
            } catch { throw Failure(error, path: path) }
        case .server(let server):
            do throws(TransportError) { channel = .server(try OperatorClient(server)) } catch {
                throw Failure(error)
            }
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
        let answer = try run(
            command, onProgress: { bar.show($0) },
            onLine: { line in
                bar.finish()
                onLine(line)
            })
        switch answer {
        case .done(let answer): return answer
        case .refused(let problem):
            throw Failure(.failure, context + problem.text, hint: problem.hint)
        }
    }

    private func run<Command: OperatorCommand>(
        _ command: Command, onProgress: (OperatorProgress) -> Void, onLine: (Command.Line) -> Void
    ) throws(Failure) -> ControlAnswer<Command.Answer> {
        switch channel {
        case .server(let client): return try client.run(command, onProgress: onProgress, onLine: onLine)
        case .socket(let socket, let path):
            do throws(ControlError) {
                return try socket.client.run(command, onProgress: onProgress, onLine: onLine)
            } catch { throw Failure(error, path: path) }
        }
    }
}
