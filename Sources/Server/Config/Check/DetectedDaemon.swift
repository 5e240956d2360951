import Basics
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

    /// Returns the daemon that runs on the data directory of a configuration. Returns `nil` if none runs there.
    static func beside(_ loaded: LoadedConfiguration) -> DetectedDaemon? {
        let configuration = loaded.configuration
        let paths = [configuration.controlSocket, "\(configuration.dataDirectory)/control.sock"]
        for path in paths.prefix(paths[0] == paths[1] ? 1 : 2) {
            guard case .daemon(let found) = look(at: path) else { continue }
            if found.usesStore(configuration.storePath) { return found }
        }
        return nil
    }

    /// Probes a control socket.
    static func look(at path: String) -> Look {
        let answer = LocalRequest.ask(
            path, RequestLine.json(ShowStatus()).compact, milliseconds: Limits.Config.checkAnswerMilliseconds,
            limit: Limits.Operator.lineBytes)
        switch answer {
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

    /// Whether its control socket is at this path.
    func isAt(_ path: String) -> Bool { Self.isSame(path, controlSocket) }

    /// Whether its store is in this folder; a relative path of the daemon is resolved in its working directory.
    private func usesStore(_ path: String) -> Bool {
        let own = store.hasPrefix("/") ? store : "/proc/\(process)/cwd/\(store)"
        return Self.isSame(path, own)
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
            ports: listeners.map(\.port).filter { $0 > 0 }, partitions: self.store.partitions)
    }
}
