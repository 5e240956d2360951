import Basics
import Delivery

extension NodeWriter {
    /// Inlined into the loop over a batch, since a call of its own would copy the mutation.
    @inline(__always)
    mutating func write(_ mutation: borrowing Mutation) {
        switch mutation {
        case .putDevice(let device): begin(.putDevice) { $0.write(device) }
        case .putRegistration(let registration): begin(.putRegistration) { $0.write(registration) }
        case .removeRegistration(let name): begin(.removeRegistration) { $0.write(name) }
        case .removeDevice(let device): begin(.removeDevice) { $0.write(device) }
        case .putSubscription(let made): begin(.putSubscription) { $0.write(made) }
        case .removeSubscription(let ended): begin(.removeSubscription) { $0.write(ended) }
        case .linkInstallation(let id, let name): write(.linkInstallation, id, name)
        case .unlinkInstallation(let id, let name): write(.unlinkInstallation, id, name)
        case .putInstallation(let installation): begin(.putInstallation) { $0.write(installation) }
        case .removeInstallation(let id): begin(.removeInstallation) { $0.bytes(id) }
        case .putMessage(let message):
            byte(MutationCase.putMessage.rawValue)
            write(message)
        case .removeMessage(let device, let sequence, let end, let reason):
            byte(MutationCase.removeMessage.rawValue)
            write(device)
            write(sequence, end, reason)
        case .markForGateway(let device): begin(.markForGateway) { $0.write(device) }
        case .unmarkForGateway(let device): begin(.unmarkForGateway) { $0.write(device) }
        case .putFeedback(let entry): begin(.putFeedback) { $0.write(entry) }
        case .removeFeedback(let entry): begin(.removeFeedback) { $0.write(entry) }
        case .putTopicJob(let job): begin(.putTopicJob) { $0.write(job) }
        case .advanceTopicJob(let job, let cursor, let marked): advance(job, to: cursor, marked)
        case .removeTopicJob(let job, let marked): remove(job, marked)
        case .removeTopicBody(let job, let end): removeBody(of: job, end)
        case .putGroup(let group): begin(.putGroup) { $0.write(group) }
        case .removeGroup(let group, let label): remove(group, label)
        case .putSender(let sender): begin(.putSender) { $0.write(sender) }
        case .removeSender(let sender): begin(.removeSender) { $0.write(sender) }
        case .putUpstream(let upstream, let now):
            byte(MutationCase.putUpstream.rawValue)
            signed(now)
            write(upstream)
        case .removeUpstream(let sender, let sequence, let end, let reason):
            byte(MutationCase.removeUpstream.rawValue)
            write(sender)
            write(sequence, end, reason)
        case .putMark(let mark, let number): write(mark, number)
        case .advanceLog: preconditionFailure("each store has its own progress in a log")
        }
    }

    @inline(__always)
    private mutating func begin(_ mutation: MutationCase, _ fields: (inout NodeWriter) -> Void) {
        byte(mutation.rawValue)
        fields(&self)
    }

    private mutating func write(_ mutation: MutationCase, _ id: [UInt8], _ name: RegistrationName) {
        byte(mutation.rawValue)
        bytes(id)
        write(name)
    }

    @inline(__always)
    private mutating func write(_ sequence: SequenceNumber, _ end: UnixMilliseconds, _ reason: Milestone) {
        write(sequence)
        signed(end)
        byte(reason.number)
    }

    private mutating func advance(
        _ job: TopicJobName, to cursor: TopicCursor, _ marked: [RegistrationName]
    ) {
        byte(MutationCase.advanceTopicJob.rawValue)
        write(job)
        write(cursor, of: job)
        write(marked)
    }

    private mutating func remove(_ job: TopicJobName, _ marked: [RegistrationName]) {
        byte(MutationCase.removeTopicJob.rawValue)
        write(job)
        write(marked)
    }

    private mutating func removeBody(of job: TopicJobName, _ end: UnixMilliseconds) {
        byte(MutationCase.removeTopicBody.rawValue)
        write(job)
        signed(end)
    }

    private mutating func remove(_ group: GroupName, _ label: [UInt8]) {
        byte(MutationCase.removeGroup.rawValue)
        write(group)
        bytes(label)
    }

    private mutating func write(_ mark: StoreMark, _ value: UInt64) {
        byte(MutationCase.putMark.rawValue)
        byte(mark.number)
        number(value)
    }
}
