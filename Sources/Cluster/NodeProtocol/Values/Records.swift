import Basics
import Delivery
import Store

// Records of the store, each after its key.

extension NodeWriter {
    @inline(__always)
    mutating func write(_ message: StoredMessage) {
        write(message.device)
        write(message.sequence)
        MessageRecord.write(message, to: &record)
        appendRecord()
    }

    mutating func write(_ upstream: StoredUpstream) {
        write(upstream.sender)
        write(upstream.sequence)
        UpstreamRecord.write(upstream, to: &record)
        appendRecord()
    }

    mutating func write(_ device: DeviceRecord) {
        write(device.device)
        RegistryRecord.write(device, to: &record)
        appendRecord()
    }

    mutating func write(_ registration: Registration) {
        write(registration.name)
        RegistryRecord.write(registration, to: &record)
        appendRecord()
    }

    mutating func write(_ sender: SenderRecord) {
        write(sender.sender)
        RegistryRecord.write(sender, to: &record)
        appendRecord()
    }

    mutating func write(_ installation: InstallationRecord) {
        bytes(installation.id)
        InstallationCodec.write(installation, to: &record)
        appendRecord()
    }

    mutating func write(_ feedback: APNsFeedback) {
        write(feedback.sender)
        signed(feedback.seenAt)
        write(feedback.registration)
        APNsRecord.write(feedback, to: &record)
        appendRecord()
    }

    /// A group as it is stored.
    mutating func write(_ group: GroupRecord) {
        write(group.name)
        GroupCodec.write(group, to: &record)
        appendRecord()
    }

    /// A new job, whose cursor is at the start.
    mutating func write(_ job: TopicJob) {
        write(job.name)
        TopicRecord.write(job, to: &record)
        appendRecord()
        TopicRecord.writeBody(of: job, to: &record)
        appendRecord()
    }

    mutating func write(_ cursor: TopicCursor, of job: TopicJobName) {
        TopicRecord.write(cursor, of: job, to: &record)
        appendRecord()
    }

    /// The record of a subscription holds nothing but its time beside the key.
    mutating func write(_ subscription: Subscription) {
        write(subscription.name)
        write(subscription.sender)
        write(subscription.topic)
        signed(subscription.since)
    }
}

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func message() throws(NodeProtocolFault) -> StoredMessage {
        let (device, sequence) = (try device(), try sequence())
        return try record("message") { (bytes) throws(RecordFault) in
            try MessageRecord.message(bytes, device: device, sequence: sequence)
        }
    }

    @_lifetime(self: copy self)
    mutating func upstream() throws(NodeProtocolFault) -> StoredUpstream {
        let (sender, sequence) = (try sender(), try sequence())
        return try record("upstream message") { (bytes) throws(RecordFault) in
            try UpstreamRecord.upstream(bytes, sender: sender, sequence: sequence)
        }
    }

    @_lifetime(self: copy self)
    mutating func deviceRecord() throws(NodeProtocolFault) -> DeviceRecord {
        let device = try device()
        return try record("device") { (bytes) throws(RecordFault) in
            try RegistryRecord.device(bytes, device)
        }
    }

    @_lifetime(self: copy self)
    mutating func registrationRecord() throws(NodeProtocolFault) -> Registration {
        let name = try name()
        return try record("registration") { (bytes) throws(RecordFault) in
            try RegistryRecord.registration(bytes, name)
        }
    }

    @_lifetime(self: copy self)
    mutating func senderRecord() throws(NodeProtocolFault) -> SenderRecord {
        let sender = try sender()
        return try record("sender") { (bytes) throws(RecordFault) in
            try RegistryRecord.sender(bytes, sender)
        }
    }

    @_lifetime(self: copy self)
    mutating func installationRecord() throws(NodeProtocolFault) -> InstallationRecord {
        let id = try byteArray("installation")
        return try record("installation") { (bytes) throws(RecordFault) in
            try InstallationCodec.installation(bytes, id)
        }
    }

    @_lifetime(self: copy self)
    mutating func feedback() throws(NodeProtocolFault) -> APNsFeedback {
        let (sender, seenAt, name) = (try sender(), try signed(), try name())
        return try record("feedback") { (bytes) throws(RecordFault) in
            try APNsRecord.feedback(bytes, sender: sender, seenAt: seenAt, name)
        }
    }

    @_lifetime(self: copy self)
    mutating func groupRecord() throws(NodeProtocolFault) -> GroupRecord {
        let name = try group()
        return try record("group") { (bytes) throws(RecordFault) in try GroupCodec.group(bytes, name) }
    }

    @_lifetime(self: copy self)
    mutating func topicJob() throws(NodeProtocolFault) -> TopicJob {
        let name = try job()
        var job = try record("message to topics") { (bytes) throws(RecordFault) in
            try TopicRecord.job(bytes, name)
        }
        let shared = try record("shared body") { (bytes) throws(RecordFault) in
            try TopicRecord.body(bytes, name)
        }
        guard shared.reference.path == job.target.path else { throw .value(of: "shared body") }
        job.body = shared.body
        job.apns = shared.apns
        return job
    }

    @_lifetime(self: copy self)
    mutating func cursor(of job: TopicJobName) throws(NodeProtocolFault) -> TopicCursor {
        try record("cursor") { (bytes) throws(RecordFault) in try TopicRecord.cursor(bytes, job) }
    }

    @_lifetime(self: copy self)
    mutating func subscription() throws(NodeProtocolFault) -> Subscription {
        let (name, sender, topic) = (try name(), try sender(), try topic())
        return Subscription(name: name, sender: sender, topic: topic, since: try signed())
    }
}
