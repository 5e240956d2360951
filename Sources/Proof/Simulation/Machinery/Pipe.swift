import Basics
import Delivery

/// A piece of data on a simulated connection.
enum Cargo {
    /// Bytes, split anywhere.
    case bytes([UInt8])
    /// The event that a session would decode from a client's bytes.
    case event(Event)
    /// The command that a session would encode as bytes.
    case command(SessionCommand)
}

/// The client's end of a connection.
protocol ClientEnd: AnyObject {
    /// Receives data from the server.
    func received(_ cargo: Cargo)
    /// Reports that the connection is lost.
    func lost()
}

/// A connection over the simulated network: ordered, delayed, and possibly lost at any moment.
final class Pipe {
    private struct Direction {
        /// When the last piece arrives.
        var lastArrival: Int64 = 0
        var sent = 0
        /// Pieces beyond this number are lost.
        var limit = Int.max
        var arrived = 0
    }

    private let world: World
    private var toServer = Direction()
    private var toClient = Direction()
    private var clientEnd: (any ClientEnd)?
    private(set) var serverEnd: ServerEnd?
    private var isInputEnded = false

    init(_ world: World, client: any ClientEnd) {
        self.world = world
        clientEnd = client
    }

    /// Connects the server's end; the client sends first.
    func attach(_ end: ServerEnd) { serverEnd = end }

    // MARK: Sending

    func sendToServer(_ cargo: Cargo) {
        guard !isInputEnded else { return }
        guard case .bytes(let bytes) = cargo else { return sendToServer(whole: cargo) }
        guard isSplit(bytes) else { return sendToServer(whole: cargo) }
        for piece in pieces(bytes) { sendToServer(whole: .bytes(piece)) }
    }

    func sendToClient(_ cargo: Cargo) {
        guard case .bytes(let bytes) = cargo else { return sendToClient(whole: cargo) }
        guard isSplit(bytes) else { return sendToClient(whole: cargo) }
        for piece in pieces(bytes) { sendToClient(whole: .bytes(piece)) }
    }

    private func sendToServer(whole cargo: Cargo) {
        toServer.sent += 1
        plan(&toServer) { [self] in
            toServer.arrived += 1
            if let cargo = arrives(cargo, toServer) { serverEnd?.received(cargo) }
        }
    }

    private func sendToClient(whole cargo: Cargo) {
        toClient.sent += 1
        plan(&toClient) { [self] in
            toClient.arrived += 1
            if let cargo = arrives(cargo, toClient) { clientEnd?.received(cargo) }
        }
    }

    /// Returns what arrives of the next piece: of the first lost one, only the bytes that had left.
    private func arrives(_ cargo: Cargo, _ direction: Direction) -> Cargo? {
        guard direction.arrived > direction.limit else { return cargo }
        guard direction.arrived == direction.limit + 1, world.settings.cutsWithin,
            case .bytes(let bytes) = cargo, bytes.count > 1
        else { return nil }
        return .bytes(Array(bytes.prefix(Int(world.random(1...Int64(bytes.count - 1))))))
    }

    private func plan(_ direction: inout Direction, longest: Int64? = nil, _ work: @escaping () -> Void) {
        let wait = world.random(10_000...(longest ?? world.faults.networkMilliseconds * 1_000_000 + 10_000))
        direction.lastArrival = max(direction.lastArrival + 1, world.clock.nanoseconds + wait)
        world.at(direction.lastArrival, work)
    }

    /// Whether bytes arrive in pieces, since TCP keeps no boundaries.
    private func isSplit(_ bytes: [UInt8]) -> Bool { bytes.count > 1 && world.chance(1, in: 3) }

    private func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        for _ in 0..<3 where start < bytes.count {
            let end = start + Int(world.random(1...Int64(bytes.count - start)))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        if start < bytes.count { pieces.append(Array(bytes[start...])) }
        return pieces
    }

    // MARK: Ending

    /// Drops the connection in the network: some data in transit still arrives, and each side notices at its own time.
    func cut() {
        guard serverEnd != nil || clientEnd != nil else { return }
        world.countFault()
        lose(&toServer)
        lose(&toClient)
        let longest: Int64 = world.isCalm ? 1_000_000_000 : 20_000_000_000
        plan(&toServer, longest: longest) { [self] in endServer(.deadPeer) }
        plan(&toClient, longest: longest) { [self] in endClient() }
    }

    private func lose(_ direction: inout Direction) {
        let onTheWay = direction.sent - direction.arrived
        direction.limit = min(
            direction.limit, direction.arrived + Int(world.random(0...Int64(max(0, onTheWay)))))
    }

    /// Ends the client's output; it continues to read.
    func endInput() {
        guard clientEnd != nil, !isInputEnded else { return }
        isInputEnded = true
        plan(&toServer) { [self] in
            if toServer.arrived <= toServer.limit { serverEnd?.inputEnded() }
        }
    }

    /// Closes the connection by the client; what it sent before still arrives.
    func closeByClient() {
        clientEnd = nil
        plan(&toServer) { [self] in endServer(.peerClosed) }
    }

    /// Closes the connection by the server; what it sent before still arrives.
    func closeByServer() {
        serverEnd = nil
        plan(&toClient) { [self] in endClient() }
    }

    /// Ends the connection when the server process has died: the client notices at once or much later.
    func serverDied() {
        serverEnd = nil
        lose(&toClient)
        plan(&toClient, longest: world.chance(1, in: 4) ? 20_000_000_000 : 50_000_000) { [self] in endClient()
        }
    }

    /// Breaks the reference cycles at the end of the world.
    func forget() {
        serverEnd = nil
        clientEnd = nil
    }

    private func endServer(_ reason: CloseReason) {
        guard let end = serverEnd else { return }
        serverEnd = nil
        end.ended(reason)
    }

    private func endClient() {
        guard let end = clientEnd else { return }
        clientEnd = nil
        toClient.limit = 0
        end.lost()
    }
}
