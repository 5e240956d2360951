import Catalogue
import Client

/// Where the daemon is reached: on its control socket, or on another machine over its operator API.
enum DaemonAddress {
    case socket(String)
    case server(OperatorServer)

    /// Returns the address that the options of an invocation name.
    static func find(_ invocation: Invocation) throws(Failure) -> DaemonAddress {
        guard let url = invocation.text("--server") else {
            for option in ["--token-file", "--ca-file"] where invocation.has(option) {
                throw Failure(.usage, "\(option) needs --server", hint: "give both, or neither")
            }
            return .socket(try SocketPath.find(invocation.text("--socket")))
        }
        guard !invocation.has("--socket") else {
            throw Failure(.usage, "--server and --socket exclude each other", hint: "give one of them")
        }
        guard let file = invocation.text("--token-file") else {
            throw Failure(
                .usage, "--server needs --token-file",
                hint: "ccsctl operators add creates a token on the server; keep it in a file with mode 0600")
        }
        return .server(
            try OperatorServer(url: url, tokenFile: file, authorityFile: invocation.text("--ca-file")))
    }
}
