import Basics
import Delivery
import Testing

@testable import APNsGateway

@Suite("the choice of a credential")
struct CredentialDirectoryTests {
    private static let now = Now(monotonic: Instant(nanoseconds: 0), wall: Samples.epoch)
    private static let other = Array("com.example.other".utf8)
    private static let (alice, bob) = (SenderID(1), SenderID(2))

    private static func name(
        _ credentials: [APNsCredential], _ bundle: [UInt8] = Samples.bundle, of sender: SenderID? = alice,
        in environment: APNsEnvironment = .production
    ) -> String? {
        var directory = CredentialDirectory()
        _ = directory.replace(with: credentials)
        // An earlier choice for another sender must not decide.
        _ = directory.entry(for: bundle, of: bob, in: environment, now)
        let first = directory.entry(for: bundle, of: sender, in: environment, now)
        #expect(first === directory.entry(for: bundle, of: sender, in: environment, now))
        return first?.credential.id.name
    }

    @Test("a key wins over a certificate, and a key for the app over one for all")
    func fitness() {
        let all = Samples.key(APNsCredentialID("all"))
        let one = Samples.key(APNsCredentialID("one"), bundles: [Samples.bundle])
        #expect(Self.name([Samples.certificate()]) == "certificate")
        #expect(Self.name([Samples.certificate(), all]) == "all")
        #expect(Self.name([one, all]) == "one" && Self.name([one, all], Self.other) == "all")
        #expect(Self.name([one, Samples.certificate()], Self.other) == nil)
        #expect(Self.name([Samples.certificate()], in: .sandbox) == nil)
    }

    @Test("a credential for one sender serves no other, and wins over those for all")
    func senders() {
        let all = Samples.key(APNsCredentialID("all"), bundles: [Samples.bundle])
        let bobs = Samples.key(APNsCredentialID("bobs"), sender: Self.bob)
        #expect(Self.name([bobs]) == nil)
        #expect(Self.name([bobs], of: Self.bob) == "bobs")
        #expect(Self.name([all, bobs]) == "all" && Self.name([all, bobs], of: Self.bob) == "bobs")
        #expect(Self.name([bobs], of: nil) == "bobs", "the operator may use all")
    }
}
