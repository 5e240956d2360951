public import Basics
public import Delivery

/// Encodes and decodes devices, registrations and senders. Their IDs are the keys.
public enum RegistryRecord {
    private static let version: UInt8 = 1
    /// A device that has never logged in. A device of version 1 has logged in, or was written before this was recorded.
    private static let neverLoggedInVersion: UInt8 = 2
    /// A registration with several senders or an instance, which version 1 cannot hold.
    private static let wideVersion: UInt8 = 2
    /// A registration with the keys of a web app, after the fields of version 2.
    private static let webVersion: UInt8 = 3
    /// A registration with a scope or an APNs token. The keys of a web app are optional.
    private static let fullVersion: UInt8 = 4
    /// A registration with the version of its app, after the other fields of version 4 and before the keys of a web app.
    private static let appVersion: UInt8 = 5
    /// A registration without a scope, or with the scope that stands for all: a flag for which of the two, the APNs token and the
    /// version of the app (either may be empty) and the optional keys of a web app, after the fields of version 2.
    private static let scopeVersion: UInt8 = 6
    /// A registration that was made with a token of its installation: the kind of its scope, the text of the scope if it has one,
    /// and the fields of version 6 after the scope.
    private static let provedVersion: UInt8 = 7
    /// A registration whose device token APNs has reported on: the fields of version 7, whether an installation has proved it, and
    /// what APNs has reported.
    private static let tokenStateVersion: UInt8 = 8
    /// A registration whose token begins with its instance: the fields of version 8, of which APNs may have reported nothing.
    private static let prefixedVersion: UInt8 = 9
    /// A sender. Version 2 adds the SCRAM verifier of each key. Version 1 is still read.
    private static let senderVersion: UInt8 = 2
    /// A sender with a project ID or accounts for HTTP v1, after the fields of version 2.
    private static let projectVersion: UInt8 = 3
    /// A sender with a webhook, after the fields of version 3.
    private static let webhookVersion: UInt8 = 4

    /// Replaces the content of a buffer with the record of a device.
    public static func write(_ device: DeviceRecord, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(
            buffer, version: device.hasLoggedIn ? version : neverLoggedInVersion,
            place: RecordIdentity(.device, device.device.number))
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
        let hasNeverLoggedIn = bytes.byteCount > 0 && bytes.byte(at: 0) == neverLoggedInVersion
        var reader = try RecordReader(
            copy bytes, version: hasNeverLoggedIn ? neverLoggedInVersion : version,
            place: RecordIdentity(.device, device.number))
        let record = DeviceRecord(
            device: device, token: SecretDigest(bytes: try reader.digest()),
            createdAt: try reader.signed(), seenAt: try reader.signed(),
            nextRegistration: try reader.number(), hasLoggedIn: !hasNeverLoggedIn)
        try reader.finish()
        return record
    }

    /// Replaces the content of a buffer with the record of a registration.
    public static func write(_ registration: Registration, to buffer: inout ByteBuffer) {
        // The oldest version that fits: a record that is read and written again stays as it was.
        let scope = olderScope(of: registration)
        let written: UInt8 =
            if registration.isTokenPrefixed {
                prefixedVersion
            } else if registration.apnsState != APNsTokenState() {
                tokenStateVersion
            } else if registration.isProved {
                provedVersion
            } else if scope == nil {
                scopeVersion
            } else if !registration.appVersion.isEmpty {
                appVersion
            } else if scope != [] || !registration.apnsToken.isEmpty {
                fullVersion
            } else if registration.web != nil {
                webVersion
            } else if !registration.otherSenders.isEmpty || !registration.instance.isEmpty {
                wideVersion
            } else {
                version
            }
        var writer = RecordWriter(buffer, version: written, place: place(registration.name))
        writer.bytes(registration.category)
        writer.bytes(registration.subtype)
        writer.bytes(registration.senderText)
        writer.number(registration.sender?.number ?? 0)
        writer.signed(registration.createdAt)
        if written >= wideVersion {
            writer.bytes(registration.instance)
            writer.number(UInt64(registration.otherSenders.count))
            for sender in registration.otherSenders { writer.number(sender.number) }
        }
        if written >= fullVersion {
            if written >= provedVersion {
                write(registration.scope, &writer)
            } else if let scope {
                writer.bytes(scope)
            } else {
                writer.byte(registration.scope == .all ? 1 : 0)
            }
            writer.bytes(registration.apnsToken)
            if written >= appVersion { writer.bytes(registration.appVersion) }
            writer.byte(registration.web == nil ? 0 : 1)
        }
        if let web = registration.web {
            writer.bytes(web.publicKey)
            writer.bytes(web.auth)
        }
        if written >= tokenStateVersion {
            writer.byte(registration.isProved ? 1 : 0)
            APNsRecord.write(registration.apnsState, to: &writer)
        }
        buffer = writer.finish()
    }

    /// Returns the registration in a record. Throws `RecordFault` if it cannot be read.
    public static func registration(
        _ bytes: borrowing RawSpan, _ name: RegistrationName
    ) throws(RecordFault) -> Registration {
        let first = bytes.byteCount > 0 ? bytes.byte(at: 0) : version
        let written = (wideVersion...prefixedVersion).contains(first) ? first : version
        var reader = try RecordReader(copy bytes, version: written, place: place(name))
        var registration = Registration(
            name: name, category: try reader.byteArray(), subtype: try reader.byteArray(),
            senderText: try reader.byteArray(), sender: SenderID(recorded: try reader.number()),
            createdAt: try reader.signed())
        if written >= wideVersion {
            registration.instance = try reader.byteArray()
            let count = try reader.count()
            guard count <= Limits.Registration.sendersPerRegistration else { throw .value }
            for _ in 0..<count { registration.otherSenders.append(SenderID(try reader.number())) }
            guard written >= webVersion || count > 0 || !registration.instance.isEmpty else {
                throw .value
            }
        }
        var hasKeys = written == webVersion
        if written >= fullVersion {
            registration.scope = try scope(&reader, written)
            registration.isProved = written == provedVersion
            registration.apnsToken = try reader.byteArray()
            if written >= appVersion { registration.appVersion = try reader.byteArray() }
            let isNeeded =
                switch written {
                case scopeVersion, provedVersion, tokenStateVersion, prefixedVersion: true
                case appVersion: !registration.appVersion.isEmpty
                default: registration.scope != .unrecorded || !registration.apnsToken.isEmpty
                }
            guard isNeeded else { throw .value }
            hasKeys = try flag(&reader)
        }
        if hasKeys {
            guard let keys = WebKeys(publicKey: try reader.byteArray(), auth: try reader.byteArray())
            else { throw .value }
            registration.web = keys
        }
        if written >= tokenStateVersion {
            registration.isProved = try flag(&reader)
            registration.apnsState = try APNsRecord.state(&reader)
            registration.isTokenPrefixed = written == prefixedVersion
            let isNeeded =
                written == prefixedVersion
                ? registration.isTokenPrefixed : registration.apnsState != APNsTokenState()
            guard isNeeded else { throw .value }
        }
        try reader.finish()
        return registration
    }

    /// Returns the text of a scope for a record before `scopeVersion`. Returns `nil` if those versions cannot represent the scope.
    private static func olderScope(of registration: Registration) -> [UInt8]? {
        switch registration.scope {
        case .unrecorded: []
        case .only(let scope): scope
        case .unnamed, .all: nil
        }
    }

    /// Reads the scope. In older versions an empty text means no scope, or the scope that stands for all.
    private static func scope(
        _ reader: inout RecordReader, _ written: UInt8
    ) throws(RecordFault) -> RegistrationScope {
        if written >= provedVersion {
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
        guard written == scopeVersion else {
            let text = try reader.byteArray()
            return text.isEmpty ? .unrecorded : .only(text)
        }
        return try flag(&reader) ? .all : .unnamed
    }

    /// Writes the scope for a record of `provedVersion`.
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
        // The oldest version that fits, as for registrations.
        let isPlain = sender.project.isEmpty && sender.accounts.isEmpty
        let written = sender.webhook != nil ? webhookVersion : isPlain ? senderVersion : projectVersion
        var writer = RecordWriter(
            buffer, version: written, place: RecordIdentity(.sender, sender.sender.number))
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
        if written >= projectVersion {
            writer.bytes([UInt8](sender.project.utf8))
            writer.number(UInt64(sender.accounts.count))
            for account in sender.accounts {
                writer.bytes([UInt8](account.email.utf8))
                writer.bytes([UInt8](account.keyID.utf8))
                writer.bytes(account.publicKey)
                writer.signed(account.createdAt)
            }
        }
        if let webhook = sender.webhook { write(webhook, &writer) }
        buffer = writer.finish()
    }

    /// Returns the sender in a record. Throws `RecordFault` if it cannot be read.
    public static func sender(
        _ bytes: borrowing RawSpan, _ sender: SenderID
    ) throws(RecordFault) -> SenderRecord {
        let first = bytes.byteCount > 0 ? bytes.byte(at: 0) : version
        let written = [webhookVersion, projectVersion, senderVersion].contains(first) ? first : version
        let hasSCRAM = written >= senderVersion
        var reader = try RecordReader(
            copy bytes, version: written, place: RecordIdentity(.sender, sender.number))
        let isSuspended = try flag(&reader)
        let label = try reader.text()
        let createdAt = try reader.signed()
        var keys: [ServerKey] = []
        for _ in 0..<(try reader.count()) {
            keys.append(
                ServerKey(
                    digest: SecretDigest(bytes: try reader.digest()), createdAt: try reader.signed(),
                    expiresAt: try flag(&reader) ? try reader.signed() : nil,
                    scram: hasSCRAM ? try verifier(&reader) : nil))
        }
        var record = SenderRecord(
            sender: sender, label: label, keys: keys, createdAt: createdAt, isSuspended: isSuspended)
        if written >= projectVersion {
            record.project = try reader.text()
            for _ in 0..<(try reader.count()) {
                record.accounts.append(
                    ServiceAccount(
                        email: try reader.text(), keyID: try reader.text(),
                        publicKey: try reader.byteArray(), createdAt: try reader.signed()))
            }
            guard written == webhookVersion || !record.project.isEmpty || !record.accounts.isEmpty else {
                throw .value
            }
        }
        if written == webhookVersion { record.webhook = try webhook(&reader) }
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
