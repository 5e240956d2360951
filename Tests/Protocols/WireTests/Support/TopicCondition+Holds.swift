public import Wire

extension TopicCondition {
    /// Whether the condition holds for an app instance with these topics.
    public func holds(for subscribed: [[UInt8]]) -> Bool {
        var set: UInt32 = 0
        for (place, topic) in topics.enumerated() where subscribed.contains(topic) {
            set |= 1 << UInt32(place)
        }
        return truth >> set & 1 == 1
    }
}
