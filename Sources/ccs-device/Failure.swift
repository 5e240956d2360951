import Basics
import Catalogue
import Client
import Transport

/// Why the tool could not do what it was asked for, and what to do next.
struct Failure: Error, Equatable {
    var code: ExitCode
    var problem: String
    var hint: String

    /// A failure.
    init(_ code: ExitCode, _ problem: String, hint: String = "") {
        self.code = code
        self.problem = problem
        self.hint = hint
    }

    /// The transport failed.
    init(_ error: TransportError) { self.init(.unavailable, error.description) }

    /// A request failed.
    init(_ error: ClientError, _ endpoint: Endpoint) {
        let place = endpoint.address.description
        switch error {
        case .connection(let reason, let detail):
            let words = detail.isEmpty ? reason.rawValue : detail
            self.init(.unavailable, "no connection to \(place): \(words)", hint: Self.hint(for: words))
        case .noAnswer: self.init(.unavailable, "\(place) did not answer in time")
        case .refused("INVALID_SENDER"):
            self.init(
                .failure, "the server does not know this sender ID",
                hint: "ccsctl senders list shows those it knows")
        case .refused("AUTHENTICATION_FAILED"):
            self.init(
                .failure, "the server does not know this device",
                hint: "remove the state file, or name another with --state, and register again")
        case .refused, .status, .malformed: self.init(.failure, error.description)
        }
    }

    /// What to do about a connection that failed.
    static func hint(for words: String) -> String {
        if words.contains("certificate") {
            return "name the CA of the server with --ca FILE, or use --insecure on your own machine"
        }
        return "does ccsd run, and are --server and the ports right?"
    }
}
