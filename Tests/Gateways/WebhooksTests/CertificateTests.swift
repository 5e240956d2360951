import Testing
import Webhooks

/// The reasons why an endpoint's certificate is not accepted.
@Suite("Certificates of webhooks") struct CertificateTests {
    @Test("an unknown CA is reported with the setting, and a wrong name with the host")
    func reasons() {
        for verdict in [2, 18, 19, 20, 21] {
            let text = WebhookCertificate.problem(
                verdict: verdict, text: "unable to get it", host: "hook.example")
            #expect(text.contains("webhook_ca_file") && text.contains("unable to get it"))
        }
        for verdict in [0, 1] {
            #expect(
                WebhookCertificate.problem(verdict: verdict, text: "ok", host: "hook.example")
                    == "its certificate is not for the host name hook.example")
        }
        #expect(
            WebhookCertificate.problem(verdict: 10, text: "certificate has expired", host: "hook.example")
                == "its certificate is not valid: certificate has expired")
    }
}
