import Foundation
import Testing

/// Who reads the figures of a daemon.
@Suite("Access to the figures") struct FigureAccessTests {
    private static let separated = [
        "--user", "--map-root-user", "--net", "/bin/bash", "-c",
        "ip link set lo up && ip address add 192.0.2.7/32 dev lo && exec \"$@\"", "bash",
    ]
    /// Whether there can be a network with an address beyond loopback.
    static let canSeparate =
        (try? Tool.run(URL(fileURLWithPath: "/usr/bin/unshare"), separated + ["true"]).code) == 0

    @Test(
        "beyond loopback the figures are for operators only",
        .enabled(if: canSeparate, "unshare cannot create a network namespace"))
    func beyondLoopback() throws {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let script = """
            set -em
            cd '\(scratch.url.path)'
            PATH='\(TestPaths.programs.path)':$PATH
            trap 'for job in $(jobs -p); do kill -- -$job 2>/dev/null || true; done; wait || true' EXIT
            ccsd --data-directory data --admin-port 9100 --admin-address 0.0.0.0 --operator-api --admin-tls \\
                \(RunningDaemon.noPorts.joined(separator: " ")) >ready 2>log &
            for _ in $(seq 600); do grep -q . ready && break; sleep 0.1; done
            token=$(ccsctl --socket data/control.sock --json operators add alice --role viewer |
                sed -n 's/.*"token": *"\\([^"]*\\)".*/\\1/p')
            read_figures() {
                curl --silent --insecure --output body --write-out '%{http_code} ' --header 'Host: localhost' "$@"
                grep -c ccs_ body || true
            }
            read_figures https://127.0.0.1:9100/metrics
            read_figures https://192.0.2.7:9100/metrics
            read_figures --header 'Authorization: Bearer wrong' https://192.0.2.7:9100/metrics
            read_figures --header "Authorization: Bearer $token" https://192.0.2.7:9100/metrics
            """
        let tool = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/unshare"), Self.separated + ["/bin/bash", "-c", script],
            seconds: 180)
        let answers = tool.output.split(separator: "\n").map {
            $0.split(separator: " ").compactMap { Int($0) }
        }
        try #require(tool.code == 0 && answers.count == 4 && answers.allSatisfy { $0.count == 2 }, "\(tool)")
        #expect(answers.map { $0[0] } == [200, 401, 401, 200], "\(tool)")
        #expect(answers.map { $0[1] > 0 } == [true, false, false, true], "\(tool)")
    }
}
