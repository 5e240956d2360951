import Basics
import Delivery

// The webhook of a sender: the end of its record.

extension RegistryRecord {
    static func write(_ webhook: WebhookRecord, _ writer: inout RecordWriter) {
        writer.byte(webhook.state.rawValue)
        writer.bytes([UInt8](webhook.url.utf8))
        writer.signed(webhook.createdAt)
        writer.number(UInt64(webhook.secrets.count))
        for secret in webhook.secrets {
            writer.bytes(secret.sealed)
            writer.signed(secret.createdAt)
            writer.byte(secret.expiresAt == nil ? 0 : 1)
            if let end = secret.expiresAt { writer.signed(end) }
        }
    }

    static func webhook(_ reader: inout RecordReader) throws(RecordFault) -> WebhookRecord {
        guard let state = WebhookRecord.State(rawValue: try reader.byte()) else { throw .value }
        var webhook = WebhookRecord(
            url: try reader.text(), secrets: [], state: state, createdAt: try reader.signed())
        for _ in 0..<(try reader.count()) {
            webhook.secrets.append(
                WebhookRecord.Secret(
                    sealed: try reader.byteArray(), createdAt: try reader.signed(),
                    expiresAt: try flag(&reader) ? try reader.signed() : nil))
        }
        return webhook
    }
}
