import Basics
import Delivery

/// An event of an app server's connection.
enum AppServerNotice {
    case loggedIn
    case refusedLogin
    /// The answer to a submission.
    case answer(number: Int, Answer)
    case upstream(number: Int, handle: UpstreamHandle)
    case receipt(number: Int, handle: UpstreamHandle)
    case draining
    case lost
}

/// What an app server's answer to an upstream message contains.
enum UpstreamHandle: Hashable {
    case sequence(SequenceNumber)
    /// The ID and the sender on the wire; with the number, since several messages may share the ID. An app that registers again
    /// may repeat a message under its new token, and each copy has an answer of its own.
    case messageID([UInt8], from: [UInt8], number: Int)
}

/// The transport of an app server: events or bytes.
protocol AppServerPort: AnyObject {
    /// The server's end of the connection.
    var end: ServerEnd? { get }
    /// The state to resume after the connection is lost; `nil` for none.
    var stream: ManagedStream? { get }
    func login()
    func submit(_ draft: DownstreamDraft)
    func resolve(_ handle: UpstreamHandle, isRefused: Bool)
    /// Acknowledges a message that it was never sent.
    func acknowledgeUnknown()
    func close()
    /// Sends no more, but continues to read.
    func endInput()
    func cut()
}

/// The app servers of one sender: several connections, a queue of messages to send, and acknowledgements that are late or missing.
final class AppServerClient {
    final class Link {
        let number: Int
        var port: (any AppServerPort)?
        var isReady = false
        /// The stream to resume.
        var resuming: ManagedStream?
        /// Whether it tries a wrong key first.
        var isWrong: Bool
        /// Whether the server is draining it.
        var isDrained = false
        /// Whether it was notified of that, or sends no more itself.
        var isClosing = false
        /// Submissions that were repeated on a resumed stream: the answer to the first one may still arrive.
        var again: Set<Int> = []
        /// Whether the network has dropped the connection, perhaps unnoticed so far.
        var isCut = false
        /// Whether all submissions must be answered before the connection ends.
        var isOwedAll = false
        /// Unanswered submissions.
        var outstanding: [Int: DownstreamDraft] = [:]
        /// Those that the server had handled before the stream was resumed.
        var owed: Set<Int> = []
        /// Received messages that are not acknowledged.
        var unanswered: [UpstreamHandle: Int] = [:]
        init(_ number: Int, isWrong: Bool) {
            self.number = number
            self.isWrong = isWrong
        }
    }

    let world: World
    let sender: SenderID
    private let rightPassword: [UInt8]
    private(set) var links: [Link] = []
    private var queue: [DownstreamDraft] = []
    /// Streams to resume, with their unanswered submissions.
    private var streams: [ManagedStream] = []
    private var wanted: Int
    /// Device groups that it has created.
    var groups: [Group] = []
    /// Registrations from its imports.
    var imported: [RegistrationName] = []
    /// Whether it continues to submit after the server announced a drain.
    private let isRude: Bool

    init(_ world: World, sender: SenderID, password: [UInt8], connections: Int) {
        self.world = world
        self.sender = sender
        rightPassword = password
        wanted = connections
        isRude = world.chance(1, in: 3)
    }

    /// Number of connections that are logged in.
    var readyLinks: Int { links.count { $0.isReady } }

    /// The key that a connection tries.
    func password(_ link: Link) -> [UInt8] { link.isWrong ? rightPassword + [0x21] : rightPassword }

    /// Opens all connections.
    func start() {
        for _ in 0..<wanted { planConnect() }
    }

    private func planConnect() {
        let longest: Int64 = world.isLoginStorm ? 50_000_000 : world.isCalm ? 500_000_000 : 5_000_000_000
        world.after(world.random(1_000_000...longest)) { [self] in connect() }
    }

    private func connect() {
        guard links.count(where: { !$0.isClosing }) < wanted else { return }
        world.linkCount += 1
        let link = Link(world.linkCount, isWrong: world.chance(1, in: 12))
        if !streams.isEmpty { link.resuming = streams.removeFirst() }
        guard let port = world.openAppServer(self, link) else {
            if let stream = link.resuming { streams.append(stream) }
            return planConnect()
        }
        link.port = port
        links.append(link)
        port.login()
        let process = world.boots
        world.after(LoginChecker.appServerNanoseconds) { [self] in
            guard links.contains(where: { $0 === link }) else { return }
            world.checkers.logins.unanswered(link, process: process, world)
        }
        guard world.faults.secondsBetweenCuts > 0, !world.isCalm else { return }
        world.after(world.random(1...Int64(world.faults.secondsBetweenCuts) * 2_000_000_000)) { [self] in
            if links.contains(where: { $0 === link }), !world.isCalm { drop(link) }
        }
    }

    private func drop(_ link: Link) {
        switch world.random(0...3) {
        case 0...1:
            link.isCut = true
            link.port?.cut()
        case 2: end(link)
        default:
            link.port?.close()
            receive(.lost, link)
        }
    }

    /// Sends no more on a connection; outstanding answers still arrive.
    func end(_ link: Link) {
        link.isClosing = true
        link.port?.endInput()
        planConnect()
    }

    /// Replaces all connections, after the faults have ended or the network has failed.
    func reconnect() {
        for link in links {
            link.port?.close()
            receive(.lost, link)
        }
    }

    // MARK: Sending

    /// Sends as soon as a connection has a free window slot.
    func send(_ draft: DownstreamDraft) {
        queue.append(draft)
        pump()
    }

    private func pump() {
        while let draft = queue.first {
            let free = links.filter {
                $0.isReady && !$0.isClosing && $0.outstanding.count < Limits.AppServer.pendingWindow
            }
            guard !free.isEmpty else { return }
            let link = free[Int(world.random(0...Int64(free.count - 1)))]
            queue.removeFirst()
            submit(draft, link)
        }
    }

    private func submit(_ draft: DownstreamDraft, _ link: Link) {
        link.outstanding[draft.number] = draft
        world.checkers.submitted(draft, sender, link.number, world)
        link.port?.submit(draft)
    }

    /// Sends a refused or unanswered message again, up to four times in all.
    private func retry(_ draft: DownstreamDraft) {
        guard world.checkers.submissions(of: draft.number) < 4 else { return }
        world.after(world.random(100_000_000...3_000_000_000)) { [self] in send(draft) }
    }

    // MARK: Receiving

    /// Handles an event of a connection.
    func receive(_ notice: AppServerNotice, _ link: Link) {
        guard links.contains(where: { $0 === link }) else { return }
        switch notice {
        case .loggedIn:
            if link.isWrong { world.fail("logins", "a wrong key was accepted") }
            link.isReady = true
            pump()
        case .refusedLogin:
            if !link.isWrong { world.fail("logins", "a right key was refused") }
            world.reached(.wrongKeyRefused)
        case .draining:
            world.reached(.drainAnnounced)
            if !link.isDrained { world.fail("drains", "a drain was announced without being requested") }
            if !isRude || world.isCalm {
                link.isClosing = true
                planConnect()
            }
        case .answer(let number, let answer):
            world.checkers.answered(number, answer, link, world)
            let draft = link.outstanding.removeValue(forKey: number)
            if draft == nil { link.again.remove(number) }
            if link.owed.remove(number) != nil { world.reached(.answerResent) }
            if let draft, case .refused(let refusal) = answer, refusal.isRetryable { retry(draft) }
            pump()
        case .upstream(let number, let handle):
            link.unanswered[handle] = number
            world.checkers.appServerReceived(
                number, handle, sender, link.number, unanswered: link.unanswered.values, world)
            resolve(handle, number, link)
        case .receipt(let number, let handle):
            world.checkers.receiptReceived(number, sender, world)
            resolve(handle, nil, link)
        case .lost: lost(link)
        }
    }

    /// Resumes a stream: the answers to what the server has handled are outstanding, the rest is sent again.
    func resumed(_ link: Link, _ handled: UInt32) -> ManagedStream? {
        guard var stream = link.resuming else { return nil }
        world.reached(.streamResumed)
        link.resuming = nil
        let again = stream.resume(handled: handled)
        link.again.formUnion(stream.again)
        for (_, draft) in stream.submitted {
            link.outstanding[draft.number] = draft
            link.owed.insert(draft.number)
        }
        // Answers that were in transit come first.
        let process = world.boots
        world.after(5_000_000_000) { [self] in
            guard links.contains(where: { $0 === link }), !link.owed.isEmpty, !link.isClosing, !link.isCut,
                world.server != nil, world.boots == process
            else { return }
            world.fail("streams", "answers were lost with the connection: \(link.owed.sorted())")
        }
        for draft in again {
            world.reached(.messageResent)
            link.again.insert(draft.number)
            queue.insert(draft, at: 0)
        }
        return stream
    }

    /// Handles that the server does not have the stream.
    func notResumed(_ link: Link) {
        guard let stream = link.resuming else { return }
        world.reached(.streamNotResumed)
        link.resuming = nil
        if stream.process == world.boots, !stream.mayBeGone {
            world.fail("streams", "a stream was lost with its connection")
        }
        for (_, draft) in stream.submitted where world.isCalm || world.chance(1, in: 2) { retry(draft) }
    }

    private func lost(_ link: Link) {
        links.removeAll { $0 === link }
        // The stream is not resumed if another connection has taken the place of this one.
        if !link.isClosing, var stream = link.port?.stream ?? link.resuming {
            // A connection that was resuming may have lost the stream on either side.
            let isBetween = link.resuming != nil
            stream.again.formUnion(link.again)
            stream.mayBeGone = stream.mayBeGone || link.isDrained || isBetween
            streams.append(stream)
            link.isReady = false
            return planConnect()
        }
        link.isReady = false
        if link.isOwedAll, !link.outstanding.isEmpty {
            world.fail("answers", "\(link.outstanding.count) answers were missing when the connection ended")
        }
        for (_, draft) in link.outstanding.sorted(by: { $0.key < $1.key })
        where world.isCalm || world.chance(1, in: 2) { retry(draft) }
        planConnect()
    }

    private func resolve(_ handle: UpstreamHandle, _ number: Int?, _ link: Link) {
        if !world.isCalm, world.chance(world.faults.lazyAppServers, in: 100) { return }
        let longest: Int64 = world.isCalm ? 50_000_000 : 2_000_000_000
        world.after(world.random(0...longest)) { [self] in
            guard links.contains(where: { $0 === link }) else { return }
            link.unanswered[handle] = nil
            let isRefused = world.chance(1, in: 50)
            if let number { world.checkers.upstreamAnswered(number, isRefused: isRefused, world) }
            var isShared = false
            if case .messageID(let id, let from, _) = handle {
                isShared = world.checkers.truth.sharedIDs.contains(id)
                // On the wire the answer is for the first message of the registration with the ID.
                for case .messageID(id, from, let other) in link.unanswered.keys {
                    world.checkers.truth.upstream[other]?.isAnswered = true
                }
            }
            link.port?.resolve(handle, isRefused: isRefused)
            if !isShared, world.chance(1, in: 20) {
                link.port?.resolve(handle, isRefused: false)
                if let number { world.checkers.truth.upstream[number]?.isAnsweredTwice = true }
                world.reached(.upstreamAckRepeated)
            }
            if world.chance(1, in: 20) {
                link.port?.acknowledgeUnknown()
                world.reached(.upstreamAckUnknown)
            }
        }
    }
}
