public import Basics
public import Delivery

/// Encodes and decodes devices, registrations and senders. Their IDs are the keys.
public enum RegistryRecord {
    // Lower versions were written before the first release, and are refused.
    private static let deviceVersion: UInt8 = 3
    private static let registrationVersion: UInt8 = 10
    private static let senderVersion: UInt8 = 5

    /// What a registration has besides its fields.
    private struct Flags: OptionSet {
        let rawValue: UInt8
        /// It was made with a token of its installation.
        static let proved = Flags(rawValue: 1)
        /// Its token begins with its instance.
        static let prefixed = Flags(rawValue: 2)
        /// The keys of a web app follow.
        static let web = Flags(rawValue: 4)
        /// What APNs has reported follows.
        static let reported = Flags(rawValue: 8)
        static let all: Flags = [.proved, .prefixed, .web, .reported]
    }

    /// Replaces the content of a buffer with the record of a device.
    public static func write(_ device: DeviceRecord, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(
            buffer, version: deviceVersion, place: RecordIdentity(.device, device.device.number))
        writer.byte(device.hasLoggedIn ? 1 : 0)
        writer.bytes(device.token.bytes)
        writer.signed(device.createdAt)
        writer.signed(device.seenAt)
        writer.number(device.nextRegistration)
        buffer = writer.finish()
    }

    /// Returns the device in a record. Throws `RecordFault` if it cannot be read.
    public static func device(
        _ bytes: borrowing RawSpan, _ device: DeviceID
    ) throws(RecordFault) -> DeviceRecord {
        var reader = try RecordReader(
            copy bytes, version: deviceVersion, place: RecordIdentity(.device, device.number))
        let hasLoggedIn = try flag(&reader)
        let record = DeviceRecord(
            device: device, token: SecretDigest(bytes: try reader.digest()),
            createdAt: try reader.signed(), seenAt: try reader.signed(),
            nextRegistration: try reader.number(), hasLoggedIn: hasLoggedIn)
        try reader.finish()
        return record
    }

    /// Replaces the content of a buffer with the record of a registration.
    public static func write(_ registration: Registration, to buffer: inout ByteBuffer) {
        var flags: Flags = []
        if registration.isProved { flags.insert(.proved) }
        if registration.isTokenPrefixed { flags.insert(.prefixed) }
        if registration.web != nil { flags.insert(.web) }
        if registration.apnsState != APNsTokenState() { flags.insert(.reported) }
        var writer = RecordWriter(buffer, version: registrationVersion, place: place(registration.name))
        writer.byte(flags.rawValue)
        writer.bytes(registration.category)
        writer.bytes(registration.subtype)
        writer.bytes(registration.senderText)
        writer.number(registration.sender?.number ?? 0)
        writer.signed(registration.createdAt)
        writer.bytes(registration.instance)
        writer.number(UInt64(registration.otherSenders.count))
        for sender in registration.otherSenders { writer.number(sender.number) }
        write(registration.scope, &writer)
        writer.bytes(registration.apnsToken)
        writer.bytes(registration.appVersion)
        if let web = registration.web {
            writer.bytes(web.publicKey)
            writer.bytes(web.auth)
        }
        if flags.contains(.reported) { APNsRecord.write(registration.apnsState, to: &writer) }
        buffer = writer.finish()
    }

    /// Returns the registration in a record. Throws `RecordFault` if it cannot be read.
    public static func registration(
        _ bytes: borrowing RawSpan, _ name: RegistrationName
    ) throws(RecordFault) -> Registration {
        var reader = try RecordReader(copy bytes, version: registrationVersion, place: place(name))
        let flags = Flags(rawValue: try reader.byte())
        guard Flags.all.isSuperset(of: flags) else { throw .value }
        var registration = Registration(
            name: name, category: try reader.byteArray(), subtype: try reader.byteArray(),
            senderText: try reader.byteArray(), sender: SenderID(recorded: try reader.number()),
            createdAt: try reader.signed())
        registration.instance = try reader.byteArray()
        let count = try reader.count()
        guard count <= Limits.Registration.sendersPerRegistration else { throw .value }
        for _ in 0..<count { registration.otherSenders.append(SenderID(try reader.number())) }
        registration.scope = try scope(&reader)
        registration.apnsToken = try reader.byteArray()
        registration.appVersion = try reader.byteArray()
        if flags.contains(.web) {
            guard let keys = WebKeys(publicKey: try reader.byteArray(), auth: try reader.byteArray())
            else { throw .value }
            registration.web = keys
        }
        if flags.contains(.reported) { registration.apnsState = try APNsRecord.state(&reader) }
        registration.isProved = flags.contains(.proved)
        registration.isTokenPrefixed = flags.contains(.prefixed)
        try reader.finish()
        // An instance that is no ID cannot begin a token.
        guard registration.isTokenPrefixed == flags.contains(.prefixed) else { throw .value }
        return registration
    }

    private static func scope(_ reader: inout RecordReader) throws(RecordFault) -> RegistrationScope {
        switch try reader.byte() {
        case 0: return .unnamed
        case 1: return .all
        case 2: return .unrecorded
        case 3:
            let text = try reader.byteArray()
            guard !text.isEmpty else { throw .value }
            return .only(text)
        default: throw .value
        }
    }

    private static func write(_ scope: RegistrationScope, _ writer: inout RecordWriter) {
        switch scope {
        case .unnamed: writer.byte(0)
        case .all: writer.byte(1)
        case .unrecorded: writer.byte(2)
        case .only(let text):
            writer.byte(3)
            writer.bytes(text)
        }
    }

    /// Replaces the content of a buffer with the record of a sender.
    public static func write(_ sender: SenderRecord, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(
            buffer, version: senderVersion, place: RecordIdentity(.sender, sender.sender.number))
        writer.byte(sender.isSuspended ? 1 : 0)
        writer.bytes([UInt8](sender.label.utf8))
        writer.signed(sender.createdAt)
        writer.number(UInt64(sender.keys.count))
        for key in sender.keys {
            writer.bytes(key.digest.bytes)
            writer.signed(key.createdAt)
            writer.byte(key.expiresAt == nil ? 0 : 1)
            if let end = key.expiresAt { writer.signed(end) }
            writer.byte(key.scram == nil ? 0 : 1)
            guard let scram = key.scram else { continue }
            writer.bytes(scram.storedKey)
            writer.bytes(scram.serverKey)
            writer.bytes(scram.salt)
            writer.number(UInt64(scram.iterations))
        }
        writer.bytes([UInt8](sender.project.utf8))
        writer.number(UInt64(sender.accounts.count))
        for account in sender.accounts {
            writer.bytes([UInt8](account.email.utf8))
            writer.bytes([UInt8](account.keyID.utf8))
            writer.bytes(account.publicKey)
            writer.signed(account.createdAt)
        }
        writer.byte(sender.webhook == nil ? 0 : 1)
        if let webhook = sender.webhook { write(webhook, &writer) }
        buffer = writer.finish()
    }

    /// Returns the sender in a record. Throws `RecordFault` if it cannot be read.
    public static func sender(
        _ bytes: borrowing RawSpan, _ sender: SenderID
    ) throws(RecordFault) -> SenderRecord {
        var reader = try RecordReader(
            copy bytes, version: senderVersion, place: RecordIdentity(.sender, sender.number))
        let isSuspended = try flag(&reader)
        let label = try reader.text()
        let createdAt = try reader.signed()
        var keys: [ServerKey] = []
        for _ in 0..<(try reader.count()) {
            keys.append(
                ServerKey(
                    digest: SecretDigest(bytes: try reader.digest()), createdAt: try reader.signed(),
                    expiresAt: try flag(&reader) ? try reader.signed() : nil,
                    scram: try verifier(&reader)))
        }
        var record = SenderRecord(
            sender: sender, label: label, keys: keys, createdAt: createdAt, isSuspended: isSuspended)
        record.project = try reader.text()
        for _ in 0..<(try reader.count()) {
            record.accounts.append(
                ServiceAccount(
                    email: try reader.text(), keyID: try reader.text(),
                    publicKey: try reader.byteArray(), createdAt: try reader.signed()))
        }
        if try flag(&reader) { record.webhook = try webhook(&reader) }
        try reader.finish()
        return record
    }

    private static func verifier(_ reader: inout RecordReader) throws(RecordFault) -> SCRAMVerifier? {
        guard try flag(&reader) else { return nil }
        return SCRAMVerifier(
            storedKey: try reader.digest(), serverKey: try reader.digest(), salt: try reader.byteArray(),
            iterations: try reader.count())
    }

    static func flag(_ reader: inout RecordReader) throws(RecordFault) -> Bool {
        switch try reader.byte() {
        case 0: false
        case 1: true
        default: throw .value
        }
    }

    private static func place(_ name: RegistrationName) -> RecordIdentity {
        RecordIdentity(.registration, name.device.number, name.number.number)
    }
}
