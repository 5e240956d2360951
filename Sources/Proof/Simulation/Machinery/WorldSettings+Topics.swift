import Basics
import Delivery

/// Topic messages of all kinds. Drawn from random numbers of their own, so that worlds without topics stay the same.
extension WorldSettings {
    mutating func drawTopics(_ seed: Simulation.Seed) {
        guard !seed.isEarly, topics > 0 else { return }
        var others = SeededRandom(seed: seed.number ^ 0x01d7_0ce2_01d7_0ce2)
        subscribesOldTokens = Bool.random(using: &others)
        var random = SeededRandom(seed: seed.number ^ 0x70b1_c570_b1c5_70b1)
        func often(_ values: [Int]) -> Int { values[Int.random(in: 0..<values.count, using: &random)] }
        topicSends = often([0, 5, 10, 20, 40])
        // Where changes are rate limited, each is to a topic of its own.
        hasAppleTopics = topicSends > 0 && !rates.topicChanges.isLimited && often([0, 0, 1]) == 1
        discardsTopics = topicSends > 0 && often([0, 0, 1]) == 1
        delivery.topicDevicesPerBatch = often([1, 2, delivery.topicDevicesPerBatch])
        if discardsTopics {
            delivery.liveMessagesPerTopic = often([1, 2, 3, 5])
            delivery.liveTopicMessages = partitions * delivery.liveMessagesPerTopic * often([1, 2, 100])
        }
        guard hasAppleTopics else { return }
        importedApps = max(importedApps, often([1, 2, 4]))
        delivery.appleData = .silent
        delivery.topicPage = often([1, 1, 2, delivery.topicPage])
        // What is refused because too many messages wait for Apple is not checked here.
        delivery.unacknowledgedPerDevice = 1_000
    }
}
