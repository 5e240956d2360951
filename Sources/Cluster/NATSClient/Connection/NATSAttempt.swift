import Transport

extension NATSConnection {
    /// An attempt to connect to a server, and the connection that comes of it.
    final class Attempt {
        let server: NATSServerAddress
        var session: NATSSession
        /// The addresses of the server that were not tried yet.
        var addresses: ArraySlice<SocketAddress> = []
        var connection: Connection?

        init(_ server: NATSServerAddress, _ session: consuming NATSSession) {
            self.server = server
            self.session = session
        }
    }
}
