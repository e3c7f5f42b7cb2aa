import Foundation

/// The place of a model's XML: a folder with versions (`.xcdatamodeld`), the folder of one version (`.xcdatamodel`), or
/// a file of its own.
struct ModelFolder {
  let url: URL
  private let warnings = ModelFileWarnings()

  init(url: URL) { self.url = url }

  private var isDirectory: Bool {
    (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true
  }

  /// The root of the XML of the model; if it has several versions, of the current one.
  func root() throws(ModelFileError) -> ModelElement {
    let file = try contents()
    guard let data = try? Data(contentsOf: file) else { throw error("there is no model that can be read") }
    guard !data.starts(with: Data("bplist".utf8)) else {
      throw error("this is a compiled model; only the .xcdatamodel it was compiled from can be read")
    }
    return try ModelElement.root(of: data, file: file.path, warnings)
  }

  private func contents() throws(ModelFileError) -> URL {
    guard isDirectory else { return url }
    if url.pathExtension == "xcdatamodeld" { return try ModelFolder(url: current()).contents() }
    let contents = url.appending(path: "contents")
    guard FileManager.default.fileExists(atPath: contents.path) else {
      let isOld = FileManager.default.fileExists(atPath: url.appending(path: "elements").path)
      throw error(
        isOld
          ? "this is a model in the binary format of Xcode 3; Xcode 4 and later convert it"
          : "there is no file named contents, as there is in an .xcdatamodel")
    }
    return contents
  }

  /// The folder in which the model is, with all its versions.
  var surroundings: URL {
    let folder = url.standardizedFileURL.deletingLastPathComponent()
    return ["xcdatamodeld", "xcdatamodel"].contains(folder.pathExtension)
      ? ModelFolder(url: folder).surroundings : folder
  }

  /// The folders of all versions, in the order of their names; only the URL itself if it is not an `.xcdatamodeld`
  /// folder.
  func versions() throws(ModelFileError) -> [URL] {
    guard isDirectory, url.pathExtension == "xcdatamodeld" else { return [url] }
    let files = try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
    let versions = (files ?? []).filter { $0.pathExtension == "xcdatamodel" }
    guard !versions.isEmpty else {
      throw error("there is no version of a model, which is a folder named *.xcdatamodel")
    }
    return versions.sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  /// The version that `.xccurrentversion` names, else the likeliest one.
  private func current() throws(ModelFileError) -> URL {
    let versions = try versions()
    let note = url.appending(path: ".xccurrentversion")
    if FileManager.default.fileExists(atPath: note.path) {
      guard let data = try? Data(contentsOf: note) else {
        throw ModelFileError(file: note.path, reason: "this file cannot be read")
      }
      guard let current = try? PropertyListDecoder().decode(CurrentVersion.self, from: data) else {
        throw ModelFileError(file: note.path, reason: "this is no property list with a _XCCurrentVersionName")
      }
      guard let name = current.name else {
        let version = try likeliest(of: versions)
        let reason = "there is no _XCCurrentVersionName; \"\(version.lastPathComponent)\" is assumed"
        warnings.add(ModelFileWarning(file: note.path, line: nil, reason: reason))
        return version
      }
      guard let version = versions.first(where: { $0.lastPathComponent == name }) else {
        throw ModelFileError(file: note.path, reason: "there is no version \"\(name)\"")
      }
      return version
    }
    return try likeliest(of: versions)
  }

  /// The only version, else the one with the name of the folder.
  private func likeliest(of versions: [URL]) throws(ModelFileError) -> URL {
    if versions.count == 1 { return versions[0] }
    let name = url.deletingPathExtension().lastPathComponent
    guard let version = versions.first(where: { $0.deletingPathExtension().lastPathComponent == name }) else {
      throw error("nothing says which of the \(versions.count) versions is the current one")
    }
    return version
  }

  private struct CurrentVersion: Decodable {
    let name: String?

    enum CodingKeys: String, CodingKey {
      case name = "_XCCurrentVersionName"
    }
  }

  private func error(_ reason: String) -> ModelFileError { ModelFileError(file: url.path, reason: reason) }
}
