import Catalogue
import Client
import Glibc

/// Finds the control socket.
enum SocketPath {
    /// The places looked at where nothing was said, in order.
    static let places = ["./ccs-data/control.sock", "/run/ccsd/control.sock"]

    /// The path given, or the variable, or the first place that exists.
    static func find(_ given: String?) throws(Failure) -> String {
        if let given { return given }
        if let value = unsafe getenv("CCSD_CONTROL_SOCKET") {
            let path = unsafe String(cString: value)
            if !path.isEmpty { return path }
        }
        for place in places {
            var status = stat()
            if unsafe stat(place, &status) == 0 { return place }
            // A directory that may not be entered may well hold the socket: let connecting say so.
            if errno == EACCES { return place }
        }
        throw Failure(
            .unavailable, "no ccsd seems to run: neither \(places.joined(separator: " nor ")) exists",
            hint: "start ccsd, or give the socket of a running one: --socket PATH")
    }
}
