import Basics
import Delivery

extension AppServerClient {
    /// A group that the app server has created.
    struct Group {
        var record: GroupRecord
        /// Number of messages sent to it: the answer to one may change the group before an earlier one arrives.
        var sends = 0
    }

    /// Creates a group with one token of each app, some of them old.
    func makeGroup() {
        var members: [RegistrationName] = []
        for app in world.devices.flatMap(\.apps) where app.audience.contains(sender) && !app.known.isEmpty {
            members.append(app.known[Int(world.random(0...Int64(app.known.count - 1)))])
        }
        guard !members.isEmpty else { return }
        let label = Array("g\(world.random(0...1_000_000))".utf8)
        world.request(
            { [self] requester in
                .groupRequested(
                    GroupRequest(
                        requester: requester, sender: sender,
                        operation: .create(label: label, members: members.map { TokenName($0) })))
            },
            { [self] answer in
                guard case .reply(_, .group(let record)) = answer else { return }
                world.reached(.groupMade)
                if record.members.map(\.registration) != members {
                    world.fail("groups", "a group was created with other members")
                }
                groups.append(Group(record: record))
            })
    }

    /// Sends to one of its groups once, without retries, as over HTTP.
    func sendToGroup(_ number: Int) {
        guard !groups.isEmpty else { return }
        let place = Int(world.random(0...Int64(groups.count - 1)))
        let group = groups[place]
        groups[place].sends += 1
        let draft = DownstreamDraft(
            number: number, target: .registration(group.record.members[0].registration), collapseKey: nil,
            lifetimeSeconds: 3_600)
        let body = world.body(draft.messageID)
        world.checkers.fanOuts.submitted(
            draft, sender, members: group.record.members.map(\.registration), world)
        world.request(
            { [self] requester in
                .groupSubmitted(
                    GroupSubmission(
                        requester: requester, sender: sender, group: group.record.name,
                        content: MessageContent(
                            messageID: draft.messageID, lifetimeSeconds: draft.lifetimeSeconds, body: body)))
            },
            { [self] answer in
                let checkers = world.checkers
                switch answer {
                case .submission(_, .group(let result)):
                    checkers.fanOuts.answered(
                        number, result, isOnly: groups[place].sends == 1, checkers.truth, world)
                case .submission(_, .refused(let refusal)):
                    checkers.fanOuts.refused(number, refusal, checkers.truth, world)
                default: break
                }
            })
    }
}
