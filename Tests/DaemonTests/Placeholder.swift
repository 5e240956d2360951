// Tests/DaemonTests
