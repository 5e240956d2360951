import Basics
import Delivery
import Sessions
import Store
import Wire

extension TopicListQuery {
    /// Reads the page, and returns the answer: an error if the store cannot be read.
    func answer(from store: any Store, seal: TokenSeal) -> HTTPResponse {
        do throws(StoreError) {
            switch subject {
            case .topics(let after): return response(topics: try topics(after: after, from: store))
            case .subscribers(let topic, let after):
                let start = SubscriberPosition(sender: sender, topic: topic, after: after)
                return response(
                    subscribers: try store.subscribers(from: start, limit: limit + 1), seal: seal)
            case .scheduled(let after):
                let page = try ScheduleReader.page(of: sender, after: after, limit: limit, from: store)
                return response(
                    scheduled: page.rows.map { ($0.message, $0.registration?.tokenName) }, next: page.next,
                    seal: seal)
            }
        } catch { return V1Error(Refusal.unavailable).response }
    }

    /// Returns up to one topic more than the page has. From each topic the search continues behind all of its subscribers.
    private func topics(after: TopicName?, from store: any Store) throws(StoreError) -> [TopicName] {
        var found: [TopicName] = []
        var place = after.map { .behind(sender, $0) } ?? SubscriberPosition(sender: sender)
        while found.count <= limit,
            let next = try store.topics(from: place, examine: 1).counts.first, next.sender == sender
        {
            found.append(next.topic)
            place = .behind(sender, next.topic)
        }
        return found
    }
}
