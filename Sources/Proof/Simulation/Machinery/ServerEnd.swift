import Basics
import Delivery

/// The server's end of a connection, as a reactor holds it.
class ServerEnd {
    let id: ConnectionID
    let world: World
    let pipe: Pipe

    init(_ id: ConnectionID, _ world: World, _ pipe: Pipe) {
        self.id = id
        self.world = world
        self.pipe = pipe
    }

    /// Receives data from the client.
    func received(_ cargo: Cargo) {}
    /// Reports that the client sends no more.
    func inputEnded() {
        pipe.closeByServer()
        ended(.peerClosed)
    }
    /// Performs a command of the core.
    func perform(_ command: SessionCommand) {}
    /// Reports that the connection has ended.
    func ended(_ reason: CloseReason) { world.server?.remove(id) }

    /// Sends events to the core.
    final func report(_ events: Event...) { world.server?.route(events, from: Int(id.reactor)) }
}

/// Replaces a session: the client sends events and receives commands.
final class DirectEnd: ServerEnd {
    /// The event for the core when the connection closes.
    private var closeEvent: Event?
    /// The event for the core when the connection is drained.
    private var draining: Event?
    private var isCongested = false

    override func received(_ cargo: Cargo) {
        guard case .event(let event) = cargo else { return }
        switch event {
        case .sender(let sender, .login(_, _)):
            closeEvent = .appServerClosed(id, sender)
            draining = .appServerDraining(id, sender)
        case .device(_, .login(let login)): closeEvent = .deviceClosed(id, login.device)
        default: break
        }
        report(event)
    }

    override func perform(_ command: SessionCommand) {
        switch command {
        case .device(.reportWhenWritable):
            guard case .device(let device, .closed(_)) = closeEvent else { return }
            world.after(world.random(0...100_000_000)) { [self] in
                if world.server?.connections[id] === self, !isCongested {
                    report(.deviceWritable(id, device))
                }
            }
        case .connection(.close): close()
        case .connection(.drain):
            if let draining { report(draining) }
            pipe.sendToClient(.command(command))
        case .appServer(.loginRefused), .device(.loginRefused):
            pipe.sendToClient(.command(command))
            close()
        default:
            pipe.sendToClient(.command(command))
            congest()
        }
    }

    /// Congests the connection for a while.
    private func congest() {
        guard case .device(let device, .closed(_)) = closeEvent, !isCongested, world.faults.congests,
            world.chance(5, in: 100)
        else { return }
        isCongested = true
        report(.deviceCongested(id, device))
        world.after(world.random(0...5_000_000_000)) { [self] in
            guard world.server?.connections[id] === self else { return }
            isCongested = false
            report(.deviceWritable(id, device))
        }
    }

    private func close() {
        pipe.closeByServer()
        if let closeEvent { report(closeEvent) }
        closeEvent = nil
        super.ended(.operatorRequest)
    }

    override func ended(_ reason: CloseReason) {
        if let closeEvent { report(closeEvent) }
        super.ended(reason)
    }
}

/// One request of the control plane or over HTTP: sent once, answered once or never.
final class RequestEnd: ServerEnd {
    private var answer: ((SessionCommand?) -> Void)?

    init(_ id: ConnectionID, _ world: World, _ answer: @escaping (SessionCommand?) -> Void) {
        self.answer = answer
        let nobody = Nobody()
        super.init(id, world, world.openPipe(nobody))
    }

    override func perform(_ command: SessionCommand) { finish(command) }

    /// Completes the request with the answer, or `nil` if there was none.
    func finish(_ command: SessionCommand?) {
        guard let answer else { return }
        self.answer = nil
        world.server?.remove(id)
        answer(command)
    }

    private final class Nobody: ClientEnd {
        func received(_ cargo: Cargo) {}
        func lost() {}
    }
}
