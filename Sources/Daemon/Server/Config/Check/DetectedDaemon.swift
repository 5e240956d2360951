import Basics
import Catalogue
import Glibc
import Operator
import Store
import Transport
import Wire

/// A running ccsd, as a check sees it.
struct DetectedDaemon: Sendable, Equatable {
    /// The process ID.
    var process: Int
    /// The folder of its store, as the daemon reports it; may be relative to its working directory.
    var store: String
    var controlSocket: String
    /// The ports that it listens on.
    var ports: [Int]
    /// The number of partitions of its store; `nil` if the daemon does not report it.
    var partitions: Int?

    /// The result of a probe of a control socket.
    enum Look: Equatable {
        case nobody
        case forbidden
        /// A process that does not answer as ccsd does.
        case stranger
        case daemon(DetectedDaemon)
    }

    /// The control socket of the service unit.
    static let serviceSocket = "/run/ccsd/control.sock"

    /// Returns the daemon that runs with a configuration: on its data directory, or, since the service unit gives the data directory
    /// as a flag, as the service with the same file. Returns `nil` if none does.
    static func beside(
        _ loaded: LoadedConfiguration, file: String?, service: String = Self.serviceSocket
    ) -> DetectedDaemon? {
        let configuration = loaded.configuration
        let paths = [configuration.controlSocket, "\(configuration.dataDirectory)/control.sock"]
        for path in paths.prefix(paths[0] == paths[1] ? 1 : 2) {
            guard case .daemon(let found) = look(at: path) else { continue }
            if found.usesStore(configuration.storePath) { return found }
        }
        guard let file, loaded.locations[.dataDirectory] == nil, case .daemon(let found) = look(at: service),
            let own = configurationFile(at: service)
        else { return nil }
        return isSame(file, found.absolute(own)) ? found : nil
    }

    /// Asks a daemon for its configuration file. Returns `nil` if it has none or does not answer.
    private static func configurationFile(at socket: String) -> String? {
        guard case .line(let line) = answer(of: socket, to: ShowConfiguration(isChanged: true)),
            case .result(let answer)? = try? OperatorReply(parsing: line.raw)
        else { return nil }
        return (try? ShowConfiguration.Answer.fields.value(\.file, in: answer)) ?? nil
    }

    /// Probes a control socket.
    static func look(at path: String) -> Look {
        switch answer(of: path, to: ShowStatus()) {
        case .nobody: return .nobody
        case .forbidden: return .forbidden
        case .silence: return .stranger
        case .line(let line):
            guard case .result(let status)? = try? OperatorReply(parsing: line.raw),
                let found = try? DetectedDaemon(status, controlSocket: path)
            else { return .stranger }
            return .daemon(found)
        }
    }

    private static func answer(
        of path: String, to command: some OperatorCommand
    ) -> LocalRequest.Answer {
        LocalRequest.ask(
            path, RequestLine.json(command).compact, milliseconds: Limits.Config.checkAnswerMilliseconds,
            limit: Limits.Operator.lineBytes)
    }

    /// Whether its control socket is at this path.
    func isAt(_ path: String) -> Bool { Self.isSame(path, controlSocket) }

    /// Whether its store is in this folder; a relative path of the daemon is resolved in its working directory.
    private func usesStore(_ path: String) -> Bool {
        Self.isSame(path, absolute(store))
    }

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : "/proc/\(process)/cwd/\(path)"
    }

    /// The data directory that contains its store.
    private var dataDirectory: String {
        absolute(store).split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
    }

    /// Gives a configuration the folders of this daemon where it names none: the daemon has them from its flags.
    func supply(_ loaded: inout LoadedConfiguration) {
        guard !usesStore(loaded.configuration.storePath) else { return }
        let paths = [(ConfigKey.dataDirectory, dataDirectory), (.controlSocket, absolute(controlSocket))]
        for (key, path) in paths where loaded.locations[key] == nil && !loaded.faulty.contains(key) {
            loaded.configuration[key] = .text(path)
        }
    }

    private static func isSame(_ a: String, _ b: String) -> Bool {
        guard a != b else { return true }
        var (first, second) = (stat(), stat())
        return unsafe stat(a, &first) == 0 && stat(b, &second) == 0
            && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
}

extension DetectedDaemon {
    /// Decodes only the needed fields of a status, since a daemon of another version may not have the others.
    init(_ status: JSONValue, controlSocket: String) throws(FieldProblem) {
        let fields = ShowStatus.Answer.fields
        process = try fields.value(\.process, in: status)
        store = try fields.value(\.store, in: status).path
        ports = try fields.value(\.listeners, in: status).map(\.port).filter { $0 > 0 }
        partitions = (try? fields.value(\.store, in: status))?.partitions
        self.controlSocket = controlSocket
    }
}

extension Daemon {
    /// This daemon, for a check of its own configuration.
    var asDetected: DetectedDaemon {
        DetectedDaemon(
            process: Int(getpid()), store: configuration.storePath,
            controlSocket: configuration.controlSocket,
            ports: listeners.map(\.port).filter { $0 > 0 }, partitions: storage.store.partitions)
    }
}
