import Testing

@testable import OpenCoreData

@Suite("Replacing the files of a store")
struct StoreReplacementTests {
  @Test(
    "Replacing a store succeeds if the former store cannot be removed, which stays under another name.",
    .enabled(if: geteuid() != 0, "The superuser can remove everything."))
  func remains() throws {
    try Fixtures.withFolder { folder in
      let files = FileManager.default
      let (source, place) = (folder.appending(path: "new"), folder.appending(path: "store"))
      try Data("new".utf8).write(to: source)
      let fixed = place.appending(path: "fixed")
      try files.createDirectory(at: fixed, withIntermediateDirectories: true)
      try Data("old".utf8).write(to: fixed.appending(path: "file"))
      try files.setAttributes([.posixPermissions: 0o555], ofItemAtPath: fixed.path)
      try StoreReplacement.replace(place, withCopyOf: source)
      #expect(try Data(contentsOf: place) == Data("new".utf8))
      let names = try files.contentsOfDirectory(atPath: folder.path).sorted()
      #expect(names.count == 3 && names[0].hasPrefix(".store.") && names[1...] == ["new", "store"])
      let former = folder.appending(path: "\(names[0])/fixed")
      #expect(try Data(contentsOf: former.appending(path: "file")) == Data("old".utf8))
      try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: former.path)
    }
  }
}
