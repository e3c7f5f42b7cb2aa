import Foundation
import Testing

/// What fuzzing has found worth keeping, fed to the same targets again.
@Suite struct CorpusTests {
  @Test(arguments: FuzzTarget.allCases) func everyInputGivesAValueOrATypedError(_ target: FuzzTarget) throws {
    let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Fuzz/\(target.rawValue)")
    let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
    #expect(!files.isEmpty)
    for file in files {
      do {
        try target.run(Array(Data(contentsOf: file)))
      } catch {
        Issue.record("\(file.lastPathComponent): \(error)")
      }
    }
  }
}
