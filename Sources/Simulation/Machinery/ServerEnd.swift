import Basics
import Delivery

/// The server's end of a connection: what a reactor keeps for it.
class ServerEnd {
    let id: ConnectionID
    let world: World
    let pipe: Pipe

    init(_ id: ConnectionID, _ world: World, _ pipe: Pipe) {
        self.id = id
        self.world = world
        self.pipe = pipe
    }

    /// Something came from the client.
    func received(_ cargo: Cargo) {}
    /// The client says no more.
    func inputEnded() {
        pipe.closeByServer()
        ended(.peerClosed)
    }
    /// The core wants something done.
    func perform(_ command: SessionCommand) {}
    /// The connection is gone.
    func ended(_ reason: CloseReason) { world.server?.remove(id) }

    /// Tells the core.
    final func tell(_ events: Event...) { world.server?.route(events, from: Int(id.reactor)) }
}

/// Stands in for a session: the client speaks in events and hears commands.
final class DirectEnd: ServerEnd {
    /// What the core is told when the connection is gone.
    private var farewell: Event?
    /// What it is told when the connection is about to end.
    private var draining: Event?
    private var isCongested = false

    override func received(_ cargo: Cargo) {
        guard case .event(let event) = cargo else { return }
        switch event {
        case .sender(let sender, .login(_, _)):
            farewell = .appServerClosed(id, sender)
            draining = .appServerDraining(id, sender)
        case .device(_, .login(let login)): farewell = .deviceClosed(id, login.device)
        default: break
        }
        tell(event)
    }

    override func perform(_ command: SessionCommand) {
        switch command {
        case .device(.reportWhenReady):
            guard case .device(let device, .closed(_)) = farewell else { return }
            world.after(world.random(0...100_000_000)) { [self] in
                if world.server?.connections[id] === self, !isCongested { tell(.deviceWritable(id, device)) }
            }
        case .connection(.close): close()
        case .connection(.drain):
            if let draining { tell(draining) }
            pipe.sendToClient(.command(command))
        case .appServer(.loginRefused), .device(.loginRefused):
            pipe.sendToClient(.command(command))
            close()
        default:
            pipe.sendToClient(.command(command))
            congest()
        }
    }

    /// The peer reads too slowly for a while.
    private func congest() {
        guard case .device(let device, .closed(_)) = farewell, !isCongested, world.faults.congests,
            world.chance(5, in: 100)
        else { return }
        isCongested = true
        tell(.deviceCongested(id, device))
        world.after(world.random(0...5_000_000_000)) { [self] in
            guard world.server?.connections[id] === self else { return }
            isCongested = false
            tell(.deviceWritable(id, device))
        }
    }

    private func close() {
        pipe.closeByServer()
        if let farewell { tell(farewell) }
        farewell = nil
        super.ended(.operatorRequest)
    }

    override func ended(_ reason: CloseReason) {
        if let farewell { tell(farewell) }
        super.ended(reason)
    }
}

/// One request of the control plane or over HTTP: asked once, answered once or never.
final class RequestEnd: ServerEnd {
    private var answer: ((SessionCommand?) -> Void)?

    init(_ id: ConnectionID, _ world: World, _ answer: @escaping (SessionCommand?) -> Void) {
        self.answer = answer
        let nobody = Nobody()
        super.init(id, world, world.openPipe(nobody))
    }

    override func perform(_ command: SessionCommand) { finish(command) }

    /// The answer, or nil where none came.
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
