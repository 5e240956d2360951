import Basics
import Delivery
import Store

// Records of the store, each after its key.

extension StoredMessage: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let (device, sequence) = (try c(v?.device), try c(v?.sequence))
        return try c.record(v, "message", MessageRecord.write) { (bytes) throws(RecordFault) in
            try MessageRecord.message(bytes, device: device, sequence: sequence)
        }
    }

    /// Each message takes this way to the log: without a copy, and inlined into the loop over a batch.
    @inline(__always)
    func write(to w: inout NodeWriter) throws(Fault) {
        try w.put(device, sequence)
        MessageRecord.write(self, to: &w.record)
        try w.appendRecord("message")
    }
}

extension StoredUpstream: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let (sender, sequence) = (try c(v?.sender), try c(v?.sequence))
        return try c.record(v, "upstream message", UpstreamRecord.write) { (bytes) throws(RecordFault) in
            try UpstreamRecord.upstream(bytes, sender: sender, sequence: sequence)
        }
    }

    func write(to w: inout NodeWriter) throws(Fault) {
        try w.put(sender, sequence)
        UpstreamRecord.write(self, to: &w.record)
        try w.appendRecord("upstream message")
    }
}

extension DeviceRecord: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let device = try c(v?.device)
        return try c.record(v, "device", RegistryRecord.write) { (bytes) throws(RecordFault) in
            try RegistryRecord.device(bytes, device)
        }
    }
}

extension Registration: NodeFields {
    static var leastBytes: Int { 8 }
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let name = try c(v?.name)
        return try c.record(v, "registration", RegistryRecord.write) { (bytes) throws(RecordFault) in
            try RegistryRecord.registration(bytes, name)
        }
    }
}

extension SenderRecord: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let sender = try c(v?.sender)
        return try c.record(v, "sender", RegistryRecord.write) { (bytes) throws(RecordFault) in
            try RegistryRecord.sender(bytes, sender)
        }
    }
}

extension InstallationRecord: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let id = try c(v?.id, "installation")
        return try c.record(v, "installation", InstallationCodec.write) { (bytes) throws(RecordFault) in
            try InstallationCodec.installation(bytes, id)
        }
    }
}

extension APNsFeedback: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let (sender, seenAt, name) = (try c(v?.sender), try c(v?.seenAt), try c(v?.registration))
        return try c.record(v, "feedback", APNsRecord.write) { (bytes) throws(RecordFault) in
            try APNsRecord.feedback(bytes, sender: sender, seenAt: seenAt, name)
        }
    }
}

/// A group as it is stored.
extension GroupRecord: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let name = try c(v?.name)
        return try c.record(v, "group", GroupCodec.write) { (bytes) throws(RecordFault) in
            try GroupCodec.group(bytes, name)
        }
    }
}

/// With its pairs.
extension TopicMessage: NodeFields {
    static var leastBytes: Int { 4 }
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let name = try c(v?.name)
        var message = try c.record(v, "message to topics", TopicRecord.write) {
            (bytes) throws(RecordFault) in
            try TopicRecord.message(bytes, name)
        }
        let hasPart = message.apns != nil
        var path = message.target.path
        message = try c.record(v, "shared body", { SharedBodyRecord.write($0.shared, to: &$1) }) {
            (bytes) throws(RecordFault) in
            let shared = try SharedBodyRecord.body(bytes, .topic(name))
            path = shared.reference.path
            message.body = shared.body
            message.apns = shared.apns
            return message
        }
        guard path == message.target.path, hasPart == (message.apns != nil) else {
            throw .value(of: "shared body")
        }
        return message
    }
}

extension SharedBody: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let name = try c(v?.reference.name)
        return try c.record(v, "shared body", SharedBodyRecord.write) { (bytes) throws(RecordFault) in
            try SharedBodyRecord.body(bytes, name)
        }
    }
}

/// A new one, of which nothing has become yet.
extension TopicEntry: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let (sequence, discarded) = (try c(v?.sequence), try c.optional(v?.kind.discarded, "discarded"))
        var kind = TopicEntry.Kind.message
        if let discarded { kind = .discarded(count: discarded, through: try c(v?.kind.through)) }
        return Self(sequence: sequence, kind: kind, message: try c(v?.message))
    }
}

extension TopicEntry.Kind {
    fileprivate var discarded: Int? { if case .discarded(let count, _) = self { count } else { nil } }
    fileprivate var through: SequenceNumber? { if case .discarded(_, let last) = self { last } else { nil } }
}

extension TopicProgress: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(reached: try c(v?.reached), isOffered: try c(v?.isOffered, "offered"))
    }
}

extension TopicMark: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let source = try c(v.map { PartitionNumber($0.source) }, "partition")
        return Self(source: source.number, through: try c(v?.through))
    }
}

extension Subscription: NodeFields {
    static var leastBytes: Int { 5 }
    /// The record of a subscription holds nothing but its time beside the key.
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            name: try c(v?.name), sender: try c(v?.sender), topic: try c(v?.topic), since: try c(v?.since))
    }
}
