import Basics
import Delivery

/// A device's message to a group: it reaches the other members, once for each time that the device sent it, and is confirmed when
/// it is on disk for all of them (ccs-xmpp 4.4).
extension FanOutChecker {
    /// Records that an app is about to send the message.
    mutating func asked(
        _ draft: UpstreamDraft, members: [RegistrationName], author: DeviceClient, _ world: World
    ) {
        var message = FanOut(
            draft: DownstreamDraft(
                number: draft.number, target: .registration(members[0]), collapseKey: nil,
                lifetimeSeconds: draft.lifetimeSeconds),
            sender: draft.sender, members: members, submittedNanoseconds: world.clock.nanoseconds,
            submissions: 0, isCalm: false)
        message.author = author.identity.map { AppName(device: $0.device, category: draft.category) }
        messages[draft.number] = message
    }

    /// Counts a transmission by the device.
    mutating func transmitted(_ draft: UpstreamDraft) { messages[draft.number]?.submissions += 1 }

    /// Checks one part that was put. Returns how many the app had before.
    func checkUpstream(
        _ number: Int, _ message: FanOut, _ part: StoredMessage, _ truth: Truth, _ world: World
    ) -> Int {
        let time = message.puts.keys.count { $0.name == part.name }
        if time >= message.submissions { world.fail("groups", "m\(number) was stored too often") }
        if isOwn(part.name, message, truth) { world.fail("groups", "m\(number) was sent back to its author") }
        return time
    }

    private func isOwn(_ name: RegistrationName, _ message: FanOut, _ truth: Truth) -> Bool {
        message.author != nil && truth.tokens.appName(of: name) == message.author
    }

    /// Checks the confirmation that its device got.
    mutating func confirmed(_ number: Int, _ truth: Truth, _ world: World) {
        guard let message = messages[number] else { return }
        let others = message.members.filter { !isOwn($0, message, truth) }
        if others.count == message.members.count {
            world.fail("groups", "u\(number) was accepted from an app that is not a member")
        }
        for member in others where !mayFail(member, truth) {
            if !message.synced.keys.contains(where: { $0.name == member }) {
                world.fail("groups", "u\(number) was confirmed but is not on disk for all members")
            }
        }
    }

    /// Checks the refusal that its device got.
    func refused(_ number: Int, _ refusal: UpstreamRefusal, _ truth: Truth, _ world: World) {
        guard let message = messages[number] else { return }
        let own = message.members.filter { isOwn($0, message, truth) }
        switch refusal {
        case .tooMany: break
        case .invalidParameters where own.isEmpty: world.reached(.groupStrangerRefused)
        case .invalidParameters where own.allSatisfy { mayFail($0, truth) }: break
        default: world.fail("groups", "u\(number) was refused as \(refusal.rawValue)")
        }
    }
}
