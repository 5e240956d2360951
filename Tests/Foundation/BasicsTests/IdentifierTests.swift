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
}
