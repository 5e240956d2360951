import Basics
import Delivery
import Testing

/// Tokens that begin with the installation ID or instance ID that the app named (mcs-device 5.2, 5.5).
@Suite struct TokenPrefixTests {
    private let fid = "dGFzc3dvcmQ_aGVsbG8tdw"
    private var prefix: TokenPrefix? { TokenPrefix(bytes(fid)) }

    private func request(_ requestID: UInt32, instance: String, isProved: Bool = false) -> RegistrationRequest
    {
        var request = RegistrationRequest(
            requester: Requester(connection: web, requestID: requestID), device: device, token: token,
            category: bytes("app"), subtype: [], senderText: bytes("100"), instance: bytes(instance))
        request.isProved = isProved
        return request
    }

    /// A device without registrations.
    private func fresh() -> Harness {
        let bench = Harness.withDevice()
        bench.store.registrations[Harness.target] = nil
        return bench
    }

    private func answer(_ bench: Harness, _ event: Event) -> TokenName? {
        bench.post(event)
        bench.settle()
        for command in bench.take(web) {
            if case .reply(_, .registered(let token)) = command { return token }
        }
        return nil
    }

    private func register(_ bench: Harness, _ id: UInt32, instance: String, isProved: Bool = false)
        -> TokenName?
    {
        answer(bench, .register(request(id, instance: instance, isProved: isProved)))
    }

    @Test(
        "A token begins with the ID that the app named if that has the form of one",
        arguments: [
            ("dGFzc3dvcmQ_aGVsbG8tdw", true), ("dzxZqRrnxm4", true), ("", false), ("one", false),
            ("-GFzc3dvcmQ_aGVsbG8tdw", false),
        ])
    func named(instance: String, isPrefixed: Bool) throws {
        let made = try #require(register(fresh(), 1, instance: instance))
        #expect(made.prefix?.bytes == (isPrefixed ? bytes(instance) : nil))
    }

    @Test(
        "The token stays the same when the app registers again, with its ID or without, and after a restart")
    func again() throws {
        let bench = fresh()
        let made = try #require(register(bench, 1, instance: fid))
        #expect(made.prefix == prefix)
        #expect(register(bench, 2, instance: fid) == made)
        bench.crash(seed: 3)
        #expect(register(bench, 3, instance: fid) == made)
        #expect(register(bench, 4, instance: "") == made)
    }

    @Test(
        "A registration from before tokens had prefixes gets one when its app names its ID again, and not earlier"
    )
    func earlier() throws {
        let bench = Harness.withDevice()
        bench.store.registrations[Harness.target]?.instance = bytes(fid)
        bench.store.registrations[Harness.target]?.scope = .unnamed
        bench.bindAppServer()
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.settle()
        #expect(bench.take(appServer).compactMap(\.upstream).map(\.token) == [TokenName(Harness.target)])
        #expect(register(bench, 2, instance: fid) == TokenName(Harness.target, prefix: prefix))
        bench.post(.upstreamReceived(Harness.upstream(3)))
        bench.settle()
        #expect(
            bench.take(appServer).compactMap(\.upstream).map(\.token)
                == [TokenName(Harness.target, prefix: prefix)])
    }

    @Test("An unproved request cannot put another ID before the token of a registration without one")
    func unproved() {
        let bench = Harness.withDevice()
        bench.store.registrations[Harness.target]?.scope = .unnamed
        #expect(register(bench, 1, instance: fid) == TokenName(Harness.target))
        #expect(
            register(bench, 2, instance: fid, isProved: true) == TokenName(Harness.target, prefix: prefix))
    }

    @Test(
        "Upstream messages, receipts and canonical tokens have the text that the app got, also after a restart"
    )
    func faces() throws {
        let bench = fresh()
        let made = try #require(register(bench, 1, instance: fid))
        bench.login()
        bench.settle()
        bench.post(.upstreamReceived(Harness.upstream(2)))
        bench.settle()
        bench.crash(seed: 4)
        bench.bindAppServer()
        bench.settle()
        #expect(bench.take(appServer).compactMap(\.upstream).map(\.token) == [made])
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        bench.post(.submitted(Harness.submission(3, receipt: true, to: made.registration)))
        bench.settle()
        bench.post(
            .deviceAcknowledged(phone, device, bench.take(phone).compactMap(\.delivery?.message.sequence)))
        bench.settle()
        #expect(bench.take(appServer).compactMap(\.upstream).map(\.token) == [made], "the receipt")
        let newer = try #require(register(bench, 4, instance: "eGFzc3dvcmQ_aGVsbG8tdw"))
        #expect(newer.registration != made.registration)
        bench.post(.submitted(Harness.submission(5, to: made.registration)))
        bench.settle()
        var canonical: TokenName?
        for command in bench.take(appServer) {
            if case .submission(5, .accepted(_, let token)) = command { canonical = token }
        }
        #expect(canonical == newer)
    }

    @Test("A group shows and reports its members by the tokens that the app server gave")
    func group() throws {
        let bench = Harness.withDevice()
        let gone = TokenName(
            RegistrationName(device: device, number: RegistrationNumber(9)), prefix: prefix)
        func ask(_ id: UInt32, _ operation: GroupRequest.Operation) -> GroupRecord? {
            bench.post(
                .groupRequested(
                    GroupRequest(
                        requester: Requester(connection: web, requestID: id), sender: Harness.sender,
                        operation: operation)))
            bench.settle()
            for command in bench.take(web) {
                if case .reply(_, .group(let group)) = command { return group }
            }
            return nil
        }
        let group = try #require(
            ask(1, .create(label: bytes("a"), members: [TokenName(Harness.target), gone])))
        #expect(group.members == [TokenName(Harness.target), gone])
        let number = group.name.number
        let renamed = TokenName(Harness.target, prefix: prefix)
        #expect(
            ask(2, .add(number: number, label: nil, members: [renamed]))?.members == [renamed, gone],
            "the same member, by the token that was given last")
        bench.post(.groupSubmitted(GroupSubmission(group: group.name, submission: Harness.submission(3))))
        bench.settle()
        var failed: [TokenName] = []
        for command in bench.take(appServer) {
            if case .submission(3, .group(let answer)) = command { failed = answer.failed.map(\.member) }
        }
        #expect(failed == [gone])
        #expect(
            ask(4, .remove(number: number, label: nil, members: [TokenName(Harness.target)]))?.members == [],
            "each of its tokens names a member")
    }

    @Test("An iOS app's token begins with its installation, one that was imported does not")
    func apple() throws {
        let bench = Harness.withDevice()
        func registered(_ id: UInt32, isImport: Bool) -> TokenName? {
            answer(
                bench,
                .installation(
                    InstallationRequest(
                        requester: Requester(connection: web, requestID: id), installation: bytes(fid),
                        sender: Harness.sender,
                        action: .apple(
                            AppleRegistration(
                                bundle: bytes("com.example.ios"), token: bytes("p_0\(id)"),
                                freshDevice: DeviceID(1 << 60 | 900),
                                freshDigest: SecretDigest(bytes: [UInt8](repeating: 3, count: 32)),
                                isImport: isImport)))))
        }
        let made = try #require(registered(1, isImport: false))
        #expect(made.prefix == prefix)
        #expect(registered(2, isImport: false) == made, "it does not register again and again")
        #expect(try #require(registered(3, isImport: true)).prefix == nil)
    }
}
