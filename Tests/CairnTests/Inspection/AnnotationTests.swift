import CairnInspection
import Foundation
import Testing

@testable import Cairn

/// Bytes annotated with the names of their fields.
@Suite struct AnnotationTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Documentation/FORMAT.md")

  /// All annotations of all files of a store.
  private func annotations(_ files: Fixtures.Files) throws -> [(file: String, fields: [Annotation])] {
    var annotations: [(file: String, fields: [Annotation])] = []
    try withTemporaryDirectory { directory in
      try FixtureTests.write(files, to: URL(filePath: directory + "/store"))
      let log = try LogReader(at: directory + "/store")
      for name in log.names {
        guard let id = StoreDirectory.segment(named: name) else {
          annotations.append((name, try AnnotatedFile.fields(of: name, in: log.directory)))
          continue
        }
        guard let entry = log.entries.first(where: { $0.id == id }), let segment = try log.segment(entry) else {
          continue
        }
        var fields: [Annotation] = []
        try AnnotatedSegment(segment, shownBytes: .max).forEach(in: 0..<Int.max) { more in
          fields += more
          return .next
        }
        annotations.append((name, fields))
      }
    }
    return annotations
  }

  @Test func fieldsAreCalledAsInTheFormat() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8).replacing("\n", with: " ").lowercased()
    for files in [try Fixtures.retained(), try Fixtures.dictionary(), try Fixtures.followed()] {
      for (file, fields) in try annotations(files) {
        for field in Set(fields.map(\.field)) {
          let parts = field.lowercased().split(separator: ": ")
          #expect(text.contains(field.lowercased()) || parts.allSatisfy { text.contains($0) }, "\(field) in \(file)")
        }
      }
    }
  }

  @Test func everyByteOfASoundStoreIsNamedOnceAndNothingIsWrong() throws {
    let files = try DamagedStores.sound()
    for (file, fields) in try annotations(files) {
      var end = 0
      for field in fields {
        #expect(field.offset == end, "\(file): \(field.field)")
        #expect(!field.isWrong, "\(file): \(field.field): \(field.value)")
        end = field.offset + field.length
      }
      #expect(end == files[file]?.count, "\(file)")
    }
  }

  @Test func whereverABitFlipsNothingTrapsAndSomethingIsWrong() throws {
    let files = try DamagedStores.sound()
    for name in [ManifestFile.name, DamagedStores.sealed] {
      for offset in stride(from: 0, to: files[name]?.count ?? 0, by: 3) {
        var damaged = files
        damaged[name]?[offset] ^= 1 << UInt8(offset % 8)
        do {
          #expect(try annotations(damaged).contains { $0.fields.contains(where: \.isWrong) }, "\(name) at \(offset)")
        } catch let error as StoreError {
          #expect(error.code == .newerFormat || error.code == .notAStore)
        }
      }
    }
  }
}
