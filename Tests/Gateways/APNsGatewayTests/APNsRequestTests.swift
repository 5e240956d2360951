import APNsGateway
import Testing

@Suite("requests to APNs")
struct APNsRequestTests {
    private static let suffixes = [
        "alert": "", "background": "", "voip": ".voip", "complication": ".complication",
        "fileprovider": ".pushkit.fileprovider", "mdm": "", "liveactivity": ".push-type.liveactivity",
        "location": ".location-query", "pushtotalk": ".voip-ptt", "controls": ".push-type.controls",
        "widgets": ".push-type.widgets",
    ]

    private static func wrong(_ expected: [String: String]) -> [APNsPushType] {
        APNsPushType.allCases.filter { "\($0.topicSuffix)" != expected[$0.rawValue] }
    }

    @Test("the topic of every push type has the suffix of Apple's list")
    func topics() { #expect(Self.wrong(Self.suffixes).isEmpty) }

    @Test("canary: a wrong suffix is found")
    func canary() {
        var suffixes = Self.suffixes
        suffixes["voip"] = ".voice"
        #expect(Self.wrong(suffixes) == [.voip])
    }
}
