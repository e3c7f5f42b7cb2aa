import CairnSimulation
import Foundation
import Testing

@testable import Cairn

/// The inputs that fuzzing has found to be worth keeping, fed to the same targets again.
@Suite struct CorpusTests {
  @Test(arguments: FuzzTarget.allCases) func everyInputGivesAValueOrATypedError(_ target: FuzzTarget) throws {
    let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Data/Fuzz/\(target.rawValue)")
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

  @Test("D19: A checkpoint with arbitrary older versions and tables is used or ignored.")
  func randomCheckpoints() throws {
    var random = SplitMix64(seed: chooseSeed())
    for _ in 0..<chooseRounds(3000, debug: 200) {
      // The changed bytes lie after the checkpoint's hash pages and leaves.
      var input: [UInt8] = []
      for _ in 0..<2 {
        let place = Int.random(in: 38_000..<45_000, using: &random) & ~7
        input += [UInt8(place >> 8), UInt8(place & 255)]
        let byte = UInt8.random(in: 0...255, using: &random)
        input += (0..<8).map { $0 == 0 || byte > 100 ? byte : 0 }
      }
      try FuzzTarget.checkpoint.run(input)
    }
  }
}
