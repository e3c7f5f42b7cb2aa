import Cairn
import Foundation
import Testing

@testable import catalogue

/// The part of the catalogue tool that works with objects, on the sample and on small files.
@Suite("The catalogue as objects")
final class ObjectsTests {
  private static let sample = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Tools/catalogue/Sample/debian_bookworm_main_binary-amd64_Packages").standardizedFileURL.path

  private let directory = FileManager.default.temporaryDirectory.appending(path: "catalogue-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  private func path(_ name: String) -> String { directory.appending(path: name).path }

  /// A file with this text.
  private func file(_ text: String) throws -> PackageFile {
    try Data(text.utf8).write(to: URL(filePath: path("x_Packages")))
    return try PackageFile(path("x_Packages"))
  }

  private func parsed(_ files: [PackageFile]) throws -> ParsedCatalogue {
    try ParsedCatalogue(files) { _, _ in }
  }

  private func report(_ files: [PackageFile], replace: Bool = false) throws -> ObjectsReport {
    try ObjectsDemonstration(
      files: files, parsed: try parsed(files), store: path("objects"), package: "libc6", replace: replace
    ).run()
  }

  @Test("The sample's facts hold, also after loading it twice, or in place of an earlier store.")
  func sample() throws {
    let files = try [Self.sample, Self.sample + ".lz4"].map { try PackageFile($0) }
    for input in [[files[0]], files] {
      let report = try report(input)
      #expect(report.checks.filter { !$0.holds }.map(\.fact) == [])
      #expect(report.checks.count == 26)
      #expect((report.imported.versions, report.imported.packages) == (150, 188))
      #expect(report.imported.dependencies == 464)
      #expect(report.reading.largestNode?.package == "libc6")
      #expect(report.reading.largestNode?.dependents == 117)
      #expect(report.answers.queries.map(\.count) == [117, 24, 1])
      #expect(report.answers.sections.first?.name == "libs")
      #expect(report.conflict?.package == "libacl1")
      #expect((report.deleted.packages, report.deleted.versions) == (19, 17))
      #expect(report.compacted.bytesAfter < report.compacted.bytesBefore)
    }
  }

  @Test("An empty catalogue, and a package that needs only itself, are loaded.")
  func little() throws {
    let none = try report([try file("")])
    #expect(none.holds)
    #expect(none.conflict == nil)

    let one = try report([try file("Package: a\nVersion: 1\nArchitecture: all\nDepends: a\n")])
    #expect(one.holds)
    #expect((one.imported.dependencies, one.deleted.versions) == (1, 1))
  }

  @Test("A store that this program did not write is replaced only on request.")
  func occupied() throws {
    try CatalogueStore.create(at: path("objects"), replacing: false).store.close()
    let files = [try PackageFile(Self.sample)]
    #expect(throws: (any Error).self) { try report(files) }
    try CatalogueStore.open(at: path("objects")).store.close()
    #expect(try report(files, replace: true).holds)
  }

  @Test("Of several stanzas about one version, the last counts.")
  func versionTwice() throws {
    let stanza = "Package: a\nVersion: 1\nArchitecture: all\n"
    let files = [try file("\(stanza)Depends: b, c\n\n\(stanza)Depends: d | e\nSection: net\n")]
    let catalogue = try parsed(files)
    #expect((catalogue.stanzas, catalogue.versions.count, catalogue.edges) == (2, 1, 2))
    #expect(catalogue.packages == ["a", "b", "c", "d", "e"])
    #expect(catalogue.dependents() == ["d": 1, "e": 1])
    #expect(try report(files).holds)
  }

  @Test("Removing a package removes its versions and what depends on them.")
  func removal() throws {
    let text = ["a", "b"].map { "Package: \($0)\nVersion: 1\nArchitecture: all\nDepends: a, c\n" }
    var catalogue = try parsed([try file(text.joined(separator: "\n"))])
    catalogue.remove(["a"])
    #expect((catalogue.packages, catalogue.versions.count, catalogue.edges) == (["b", "c"], 1, 1))
  }

  @Test("A maintainer has a name and an address if the stanza has them.")
  func mailboxes() {
    let boxes = ["Ada Lovelace <ada@example.org>", " Ada  <a@b> ", "Ada", "<a@b>", "Ada <a", ""].map(Mailbox.init)
    #expect(boxes.map(\.name) == ["Ada Lovelace", "Ada", "Ada", "", "Ada", ""])
    #expect(boxes.map(\.email) == ["ada@example.org", "a@b", "", "a@b", "a", ""])
  }
}
