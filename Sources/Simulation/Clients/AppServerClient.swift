import Basics
import Delivery

/// What an app server hears.
enum AppServerWord {
    case loggedIn
    case refusedLogin
    /// The answer to a submission; nil: acknowledged.
    case answer(number: Int, Refusal?)
    case upstream(number: Int, handle: UpstreamHandle)
    case receipt(number: Int, handle: UpstreamHandle)
    case draining
    case lost
}

/// By what an app server names an upstream message when it answers.
enum UpstreamHandle: Hashable {
    case sequence(Sequence)
    case messageID([UInt8])
}

/// How an app server speaks: in events or in octets.
protocol AppServerPort: AnyObject {
    func login()
    func submit(_ draft: DownstreamDraft)
    func settle(_ handle: UpstreamHandle, isRefused: Bool)
    func close()
    func cut()
}

/// The app servers of one sender: several connections, a queue of what is to be sent, answers that come late or never.
final class AppServerClient {
    /// One connection.
    final class Link {
        let number: Int
        var port: (any AppServerPort)?
        var isReady = false
        /// Submissions without an answer.
        var outstanding: Set<Int> = []
        /// Messages heard and not answered.
        var unsettled: [UpstreamHandle: Int] = [:]
        init(_ number: Int) { self.number = number }
    }

    private unowned let world: World
    let sender: SenderID
    let password: [UInt8]
    /// The digest of the password.
    let key: SecretDigest
    private var links: [Link] = []
    private var queue: [DownstreamDraft] = []
    private var wanted: Int

    init(_ world: World, sender: SenderID, password: [UInt8], connections: Int) {
        self.world = world
        self.sender = sender
        self.password = password
        key = SimulatedHost.digest(password)
        wanted = connections
    }

    /// Connections that are logged in.
    var readyLinks: Int { links.count { $0.isReady } }

    /// Connects what is missing, now and whenever something is lost.
    func start() {
        for _ in 0..<wanted { planConnect() }
    }

    private func planConnect() {
        let longest: Int64 = world.isCalm ? 500_000_000 : 5_000_000_000
        world.after(world.random(1_000_000...longest)) { [self] in connect() }
    }

    private func connect() {
        guard links.count < wanted else { return }
        world.linkCount += 1
        let link = Link(world.linkCount)
        guard let port = world.openAppServer(self, link) else { return planConnect() }
        link.port = port
        links.append(link)
        port.login()
        guard world.faults.secondsBetweenCuts > 0, !world.isCalm else { return }
        world.after(world.random(1...Int64(world.faults.secondsBetweenCuts) * 2_000_000_000)) { [self] in
            if links.contains(where: { $0 === link }), !world.isCalm { drop(link) }
        }
    }

    private func drop(_ link: Link) {
        if world.chance(1, in: 2) { return link.port?.cut() ?? () }
        link.port?.close()
        hear(.lost, link)
    }

    /// The faults are over: new connections, on which everything is answered.
    func calm() {
        for link in links {
            link.port?.close()
            hear(.lost, link)
        }
    }

    /// Sends as soon as a connection has room.
    func send(_ draft: DownstreamDraft) {
        queue.append(draft)
        pump()
    }

    private func pump() {
        while let draft = queue.first {
            let free = links.filter { $0.isReady && $0.outstanding.count < Limits.pendingWindow }
            guard !free.isEmpty else { return }
            let link = free[Int(world.random(0...Int64(free.count - 1)))]
            queue.removeFirst()
            link.outstanding.insert(draft.number)
            world.checkers.submitted(draft, sender, link.number, world)
            link.port?.submit(draft)
        }
    }

    /// Something came.
    func hear(_ word: AppServerWord, _ link: Link) {
        guard links.contains(where: { $0 === link }) else { return }
        switch word {
        case .loggedIn:
            link.isReady = true
            pump()
        case .refusedLogin, .draining: break
        case .answer(let number, let refusal):
            world.checkers.answered(
                number, refusal, isOutstanding: link.outstanding.remove(number) != nil, world)
            pump()
        case .upstream(let number, let handle):
            link.unsettled[handle] = number
            world.checkers.appServerHeard(
                number, handle, sender, link.number, unsettled: link.unsettled.values, world)
            settle(handle, link)
        case .receipt(let number, let handle):
            world.checkers.receiptHeard(number, sender, world)
            settle(handle, link)
        case .lost:
            links.removeAll { $0 === link }
            link.isReady = false
            planConnect()
        }
    }

    private func settle(_ handle: UpstreamHandle, _ link: Link) {
        if !world.isCalm, world.chance(world.faults.lazyAppServers, in: 100) { return }
        let longest: Int64 = world.isCalm ? 50_000_000 : 2_000_000_000
        world.after(world.random(0...longest)) { [self] in
            guard links.contains(where: { $0 === link }) else { return }
            link.unsettled[handle] = nil
            link.port?.settle(handle, isRefused: world.chance(1, in: 50))
            if world.chance(1, in: 20) { link.port?.settle(handle, isRefused: false) }
        }
    }
}
