/// A limit of messages that are sent later.
public enum ScheduleLimit: String, Sendable, CaseIterable {
    /// Of one device.
    case device
    /// Of one sender.
    case sender
    /// Of the server.
    case server

    /// What is full, and what helps.
    public var text: String {
        switch self {
        case .device:
            "the device has \(Limits.Schedule.perDevice) scheduled messages: cancel one, or send later"
        case .sender:
            "the sender has too many scheduled messages (limit \(Limits.Schedule.perSender)): cancel some, or send later"
        case .server:
            "the server has too many scheduled messages (limit \(Limits.Schedule.total)): send later"
        }
    }
}
