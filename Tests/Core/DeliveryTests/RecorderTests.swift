import Basics
import Delivery
import Testing

/// Sessions that stand in for app servers (`DeliverySettings.recorderKey`).
@Suite struct RecorderTests {
    private static let key = SecretDigest(bytes: [UInt8](repeating: 0x7E, count: 32))
    private let recorder = connection(60)

    private func bench(_ set: (inout DeliverySettings) -> Void = { _ in }) -> Harness {
        var settings = DeliverySettings()
        settings.recorderKey = Self.key
        set(&settings)
        return Harness.withDevice(settings: settings)
    }

    private func bindRecorder(_ bench: Harness) {
        bench.post(.appServerLogin(recorder, Harness.sender, key: Self.key))
        bench.post(.appServerBound(recorder, Harness.sender))
        bench.settle()
        #expect(bench.take(recorder).words.first == "login accepted")
    }

    private func send(_ bench: Harness, _ requestID: UInt32, lifetime: Int = 3_600) {
        bench.post(.upstreamReceived(Harness.upstream(requestID, lifetime: lifetime)))
        bench.settle()
    }

    private func acknowledge(_ bench: Harness, _ link: ConnectionID) -> [String] {
        let taken = bench.take(link)
        for message in taken.compactMap(\.upstream) {
            bench.post(.upstreamFinished(link, Harness.sender, message.sequence, .acknowledged))
        }
        bench.settle()
        return taken.words
    }

    @Test("canary: without an app server a recorder gets messages, and its acknowledgement removes them")
    func records() {
        let bench = bench()
        bindRecorder(bench)
        send(bench, 1)
        send(bench, 2, lifetime: 0)
        #expect(acknowledge(bench, recorder) == ["upstream u1", "upstream u2"])
        #expect(bench.store.up.delivered == 1 && bench.store.upPending == 0 && bench.store.holds)
    }

    @Test("a recorder gets nothing as long as an app server is connected, even one that takes nothing")
    func standsBack() {
        let bench = bench { $0.pendingWindow = 1 }
        bindRecorder(bench)
        bench.bindAppServer()
        send(bench, 1)
        send(bench, 2)
        #expect(bench.take(recorder).words == [])
        #expect(bench.take(appServer).words == ["upstream u1"])
        bench.post(.appServerDraining(appServer, Harness.sender))
        bench.settle()
        #expect(bench.take(recorder).words == [], "it still owes an answer")
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.settle()
        #expect(acknowledge(bench, recorder) == ["upstream u1"], "what the app server has not acknowledged")
        #expect(acknowledge(bench, recorder) == ["upstream u2"])
    }

    @Test("a recorder's unanswered message is not sent again to an app server, whose messages follow it")
    func handsOver() {
        let bench = bench()
        bindRecorder(bench)
        send(bench, 1)
        bench.bindAppServer()
        send(bench, 2)
        #expect(bench.take(appServer).words == [], "the device's earlier message is not answered")
        #expect(acknowledge(bench, recorder) == ["upstream u1"])
        #expect(bench.take(appServer).words == ["upstream u2"])
    }

    @Test("a recorder gets receipts only without an app server")
    func receipts() {
        let bench = bench()
        bindRecorder(bench)
        bench.login()
        bench.bindAppServer()
        for requestID in 1...2 as ClosedRange<UInt32> {
            bench.submit(requestID, receipt: true)
            bench.settle()
            let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
            bench.post(.deviceAcknowledged(phone, device, sequences))
            bench.settle()
            if requestID == 1 {
                #expect(bench.take(appServer).words.contains("receipt m1"))
                #expect(bench.take(recorder).words == [])
                bench.post(.appServerClosed(appServer, Harness.sender))
                bench.settle()
                // Not acknowledged, so the receipt is sent again.
                #expect(acknowledge(bench, recorder) == ["receipt m1"])
            }
        }
        #expect(acknowledge(bench, recorder) == ["receipt m2"])
    }

    @Test("a recorder takes no place among the connections of its sender")
    func places() {
        let bench = bench { $0.connectionsPerSender = 1 }
        bindRecorder(bench)
        bench.bindAppServer()
        bench.post(.appServerLogin(connection(61), Harness.sender, key: Harness.key))
        bench.settle()
        #expect(bench.take(connection(61)).words == ["login refused too_many_connections"])
    }

    @Test("the key is refused without a test bench, and for an unknown or suspended sender")
    func refusals() {
        let off = Harness.withDevice()
        off.post(.appServerLogin(recorder, Harness.sender, key: Self.key))
        off.settle()
        #expect(off.take(recorder).words == ["login refused wrong_credentials"])
        let bench = bench()
        bench.post(.appServerLogin(recorder, SenderID(7), key: Self.key))
        bench.settle()
        #expect(bench.take(recorder).words == ["login refused wrong_credentials"])
        bench.post(
            .senders(
                SenderDirectory([
                    SenderRecord(
                        sender: Harness.sender, label: "", keys: [], createdAt: 0, isSuspended: true)
                ])))
        bench.post(.appServerLogin(recorder, Harness.sender, key: Self.key))
        bench.settle()
        #expect(bench.take(recorder).words == ["login refused suspended"])
    }
}
