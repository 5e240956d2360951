import Basics

/// The top-level fields of an app server's JSON that are read (ccs-xmpp 2.2); all others are ignored.
public enum PayloadField: Int, CaseIterable, Sendable {
    case to
    case from
    case condition
    case messageID
    case messageType
    case cancelMessageID
    case replaceMessageID
    case collapseKey
    case priority
    case contentAvailable
    case mutableContent
    case delayWhileIdle
    case timeToLive
    case sendAt
    case deliveryReceiptRequested
    case dryRun
    case restrictedPackageName
    case registrationIDs
    case notificationKey
    case data
    case notification
    case rawData

    /// The field's name on the wire.
    public var name: String {
        switch self {
        case .to: "to"
        case .from: "from"
        case .condition: "condition"
        case .messageID: "message_id"
        case .messageType: "message_type"
        case .cancelMessageID: "cancel_message_id"
        case .replaceMessageID: "replace_message_id"
        case .collapseKey: "collapse_key"
        case .priority: "priority"
        case .contentAvailable: "content_available"
        case .mutableContent: "mutable_content"
        case .delayWhileIdle: "delay_while_idle"
        case .timeToLive: "time_to_live"
        case .sendAt: "send_at"
        case .deliveryReceiptRequested: "delivery_receipt_requested"
        case .dryRun: "dry_run"
        case .restrictedPackageName: "restricted_package_name"
        case .registrationIDs: "registration_ids"
        case .notificationKey: "notification_key"
        case .data: "data"
        case .notification: "notification"
        case .rawData: "raw_data"
        }
    }

    /// Finds a field by its name on the wire. Returns `nil` for an unknown name.
    init?(_ name: RawSpan) {
        switch name.byteCount {
        case 2 where name.equals("to"): self = .to
        case 4 where name.equals("data"): self = .data
        case 4 where name.equals("from"): self = .from
        case 7 where name.equals("send_at"): self = .sendAt
        case 7 where name.equals("dry_run"): self = .dryRun
        case 8 where name.equals("priority"): self = .priority
        case 8 where name.equals("raw_data"): self = .rawData
        case 9 where name.equals("condition"): self = .condition
        case 10 where name.equals("message_id"): self = .messageID
        case 12 where name.equals("time_to_live"): self = .timeToLive
        case 12 where name.equals("collapse_key"): self = .collapseKey
        case 12 where name.equals("message_type"): self = .messageType
        case 12 where name.equals("notification"): self = .notification
        case 15 where name.equals("mutable_content"): self = .mutableContent
        case 16 where name.equals("delay_while_idle"): self = .delayWhileIdle
        case 16 where name.equals("registration_ids"): self = .registrationIDs
        case 16 where name.equals("notification_key"): self = .notificationKey
        case 17 where name.equals("content_available"): self = .contentAvailable
        case 17 where name.equals("cancel_message_id"): self = .cancelMessageID
        case 18 where name.equals("replace_message_id"): self = .replaceMessageID
        case 23 where name.equals("restricted_package_name"): self = .restrictedPackageName
        case 26 where name.equals("delivery_receipt_requested"): self = .deliveryReceiptRequested
        default: return nil
        }
    }
}
