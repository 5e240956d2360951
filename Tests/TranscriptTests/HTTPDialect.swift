import Basics
import Delivery
import TranscriptNotation

@testable import Sessions

/// Transcripts of HTTP: one `S:` line is one answer, events and commands are words and `name=value`.
struct HTTPDialect: TranscriptDialect {
    private static let device = DeviceID(600_000_000_000_000_001)

    var values: [String: String] {
        [
            "TOKEN": String(decoding: AppServerDialect.seal.token(for: Self.name(1)), as: UTF8.self),
            "TOKEN2": String(decoding: AppServerDialect.seal.token(for: Self.name(2)), as: UTF8.self),
            "GUARD": "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
            "AID": String(Self.device.number), "SECRET": "700000000000000002",
        ].merging(TranscriptWebPush.values) { $1 }
    }

    private static func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: device, number: RegistrationNumber(number))
    }

    mutating func configure(_ setting: String) throws { throw AppServerDialect.BadLine(text: setting) }

    func makeSession(now: Now) -> HTTPSession {
        // The digest is the text itself, so that transcripts can show what is compared.
        var settings = SessionSettings(
            seal: AppServerDialect.seal, digest: { SecretDigest(octets: $0) }, random: { 0 })
        settings.senderOfKey = { key, _ in
            key.octets == Array("AIza-key".utf8) ? SenderID(1_234_567_890) : nil
        }
        settings.webPush = TranscriptWebPush.functions
        return HTTPSession(
            connection: ConnectionID(reactor: 0, slot: 1, generation: 1), settings: settings, now: now)
    }

    func bytes(of line: String, _ text: TranscriptText) throws -> [UInt8] { try text.bytes(line) }

    mutating func units(of sent: [[UInt8]]) throws -> [[UInt8]] { sent }

    func shown(_ event: Event) -> String {
        switch event {
        case .checkIn(let checkIn):
            var text = "check-in #\(checkIn.origin.ticket)"
            if let (device, token) = checkIn.claimed {
                text += " device=\(device.number) token=\(Self.text(token.octets))"
            } else {
                text += " new"
            }
            return checkIn.refusesWrongToken ? text + " strict" : text
        case .register(let request): return "register \(Self.shown(request))"
        case .unregister(let request): return "unregister \(Self.shown(request))"
        case .submitted(let push) where push.entitlement != .account: return TranscriptWebPush.shown(push)
        case .submitted(let message):
            let ticket = RecipientTicket.parts(message.origin.ticket).map { "\($0).\($1)" }
            return AppServerDialect.shown(message, ticket: ticket) + " sender=\(message.sender.number)"
        default: return "\(event)"
        }
    }

    private static func shown(_ request: RegistrationRequest) -> String {
        "#\(request.origin.ticket) device=\(request.device.number) token=\(text(request.token.octets)) "
            + "app=\(text(request.category)) subtype=\(text(request.subtype)) sender=\(text(request.senderText))"
            + (request.instance.isEmpty ? "" : " instance=\(text(request.instance))")
    }

    private static func text(_ octets: [UInt8]) -> String { String(decoding: octets, as: UTF8.self) }

    /// `1`, or of a recipient `1.0`.
    private static func ticket(_ text: Substring) -> UInt32 {
        let parts = text.split(separator: ".").compactMap { UInt32($0) }
        guard parts.count == 2 else { return parts.first ?? 0 }
        return RecipientTicket.make(request: parts[0], index: Int(parts[1]))
    }

    private static let messageID = PersistentID(sequence: Sequence(1_795_156_966_123_456), salt: 0x0000_00ab)

    func command(_ line: String) throws -> SessionCommand? {
        let words = line.split(separator: " ").map(String.init)
        let ticket = words.count > 1 ? Self.ticket(words[1].dropFirst()) : 0
        switch words.first {
        case "checked-in":
            return .checkedIn(
                ticket: ticket, Self.device, freshToken: words.count > 2 ? UInt64(words[2]) : nil)
        case "check-in-refused": return .checkInRefused(ticket: ticket)
        case "registered": return .registered(ticket: ticket, Self.name(1))
        case "unregistered": return .unregistered(ticket: ticket)
        case "registration-refused":
            return RegistrationRefusal(rawValue: words[2]).map { .registrationRefused(ticket: ticket, $0) }
        case "ack":
            return .acknowledge(
                ticket: ticket, id: words.contains("dry") ? nil : Self.messageID,
                canonical: words.contains("canonical") ? Self.name(2) : nil)
        case "nack": return AppServerDialect.refusals[words[2]].map { .refuse(ticket: ticket, $0) }
        case "acknowledge":
            let id = PersistentID(sequence: Sequence(UInt64(words[2]) ?? 0), salt: 0x1234_5678)
            return .acknowledge(ticket: ticket, id: id, canonical: nil)
        case "refuse": return TranscriptWebPush.refusal(words[2]).map { .refuse(ticket: ticket, $0) }
        case "drain": return .drain
        case "close": return CloseReason(rawValue: words[1]).map { .close($0) }
        default: return nil
        }
    }
}
