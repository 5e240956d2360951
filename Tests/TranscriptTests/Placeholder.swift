// Tests/TranscriptTests
