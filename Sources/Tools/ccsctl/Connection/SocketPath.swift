import Catalogue
import Client
import Glibc

/// Finds the control socket.
enum SocketPath {
    /// The default paths, in the order in which they are tried.
    static let places = ["./ccs-data/control.sock", "/run/ccsd/control.sock"]

    /// Returns the given path, else that of the environment variable, else the first default path that exists.
    static func find(_ given: String?) throws(Failure) -> String {
        if let given { return given }
        if let value = unsafe getenv("CCSD_CONTROL_SOCKET") {
            let path = unsafe String(cString: value)
            if !path.isEmpty { return path }
        }
        for place in places {
            var status = stat()
            if unsafe stat(place, &status) == 0 { return place }
            // A directory without access may contain the socket; connecting then reports the missing permission.
            if errno == EACCES { return place }
        }
        throw Failure(
            .unavailable, "no ccsd seems to run: neither \(places.joined(separator: " nor ")) exists",
            hint: "start ccsd, or give the socket of a running one: --socket PATH")
    }
}
