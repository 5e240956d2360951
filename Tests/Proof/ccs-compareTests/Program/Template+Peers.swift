/// Messages of the protocols of other servers.
extension Template {
    /// Returns an MQTT packet with a payload of `size` bytes; without a packet identifier it has QoS 0.
    static func packet(topic: String, size: Int, hasIdentifier: Bool) -> Template {
        let filler = max(0, size - timeMark.count - timeDigits)
        let payload = timeMark.count + timeDigits + filler
        let head = MQTT.publishHead(topic: topic, payload: payload, hasIdentifier: hasIdentifier)
        return Template(
            bytes: head + timeMark + [UInt8](repeating: 0x30, count: timeDigits)
                + [UInt8](repeating: 0x78, count: filler),
            number: hasIdentifier ? .identifier(head.count - 2) : .none, timeAt: head.count + timeMark.count)
    }

    /// Returns a NATS message with a payload of `size` bytes.
    static func publication(subject: String, size: Int) -> Template {
        let fixed = timeMark.count + timeDigits
        return Template(
            head: NATS.publishHead(subject: subject, payload: max(size, fixed)), hasNumber: false,
            middle: "~~", tail: String(repeating: "x", count: max(0, size - fixed)) + "\r\n")
    }

    /// Returns a stanza of plain XMPP of `size` bytes, or of its minimum size.
    static func chat(to user: String, size: Int) -> Template {
        let head = "<message to=\"\(user)\" id=\"m#"
        let middle = "\"><body>~~"
        let end = "</body></message>"
        let fixed = head.utf8.count + numberDigits + middle.utf8.count + timeDigits + end.utf8.count
        return Template(
            head: head, hasNumber: true, middle: middle,
            tail: String(repeating: "x", count: max(0, size - fixed)) + end)
    }
}
