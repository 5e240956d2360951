import Basics
import Delivery

/// A device's message to a group: it comes to the other members, once for each time that the device sent it, and is confirmed
/// when it is on disk for all of them (ccs-xmpp 4.4).
extension FanOutChecker {
    /// An app is about to send it.
    mutating func asked(
        _ draft: UpstreamDraft, members: [RegistrationName], author: DeviceClient, _ world: World
    ) {
        var message = FanOut(
            draft: DownstreamDraft(
                number: draft.number, target: members[0], collapseKey: nil,
                lifetimeSeconds: draft.lifetimeSeconds),
            sender: draft.sender, members: members, submittedNanoseconds: world.clock.nanoseconds,
            submissions: 0, isCalm: false)
        message.author = author.identity.map { AppName(device: $0.device, category: draft.category) }
        messages[draft.number] = message
    }

    /// It leaves the device, perhaps again.
    mutating func transmitted(_ draft: UpstreamDraft) { messages[draft.number]?.submissions += 1 }

    /// One part of it is put: the how manieth for its app.
    func checkUpstream(
        _ number: Int, _ message: FanOut, _ part: StoredMessage, _ truth: Truth, _ world: World
    ) -> Int {
        let time = message.puts.keys.count { $0.name == part.name }
        if time >= message.submissions { world.fail("groups", "m\(number) was stored too often") }
        if isOwn(part.name, message, truth) { world.fail("groups", "m\(number) came back to its sender") }
        return time
    }

    private func isOwn(_ name: RegistrationName, _ message: FanOut, _ truth: Truth) -> Bool {
        message.author != nil && truth.tokens.appName(of: name) == message.author
    }

    /// Its device was told that it is done.
    mutating func confirmed(_ number: Int, _ truth: Truth, _ world: World) {
        guard let message = messages[number] else { return }
        let others = message.members.filter { !isOwn($0, message, truth) }
        if others.count == message.members.count {
            world.fail("groups", "u\(number) was taken from a stranger")
        }
        for member in others where !mayFail(member, truth) {
            if !message.synced.keys.contains(where: { $0.name == member }) {
                world.fail("groups", "u\(number) is confirmed, and not on disk for all members")
            }
        }
    }

    /// Its device was told that it is not.
    func refused(_ number: Int, _ refusal: UpstreamRefusal, _ truth: Truth, _ world: World) {
        guard let message = messages[number] else { return }
        let own = message.members.filter { isOwn($0, message, truth) }
        switch refusal {
        case .tooMany: break
        case .invalidParameters where own.isEmpty: world.met(.groupStrangerRefused)
        case .invalidParameters where own.allSatisfy { mayFail($0, truth) }: break
        default: world.fail("groups", "u\(number) was refused as \(refusal.rawValue)")
        }
    }
}
