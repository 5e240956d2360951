import Basics
import Testing

@Suite struct IdentifierTests {
    @Test("a connection takes 12 bytes, since events carry several and are copied often")
    func size() {
        #expect(MemoryLayout<ConnectionID>.size == 12)
        #expect(MemoryLayout<ConnectionID>.stride == 12)
    }

    @Test("a connection names no node in a daemon that belongs to no cluster")
    func noNode() { #expect(ConnectionID(reactor: 1, slot: 2, generation: 3).node == 0) }

    @Test("a connection differs from that of another node with the same reactor, slot and generation")
    func nodes() {
        let here = ConnectionID(node: 1, reactor: 2, slot: 3, generation: 4)
        let there = ConnectionID(node: 2, reactor: 2, slot: 3, generation: 4)
        #expect(here != there)
        #expect(Set([here, there]).count == 2)
    }

    @Test("the ID of a session has reactor and number, and before them the node of a cluster")
    func sessions() {
        let plain = SessionID(ConnectionID(reactor: 3, slot: 7, generation: 345))
        #expect(plain.text == "3-345" && SessionID(text: "3-345") == plain)
        let node = SessionID(node: 2, reactor: .max, generation: .max)
        #expect(node.text == "2-65535-4294967295" && SessionID(text: node.text) == node)
        for text in [
            "", "3", "3-", "-3", "3-345-", "0-3-345", "1-2-3-4", "3-+5", "3-4294967296", "65536-1",
            "65536-1-1", "a-1",
        ] {
            #expect(SessionID(text: text) == nil, "\(text)")
        }
    }
}
