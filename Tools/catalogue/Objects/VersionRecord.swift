/// The description of one version of a package in a stanza.
struct VersionRecord {
  struct ID: Hashable {
    let package: String
    let number: String
    let architecture: String
  }

  let id: ID
  let maintainer: Mailbox?
  let section: String?
  let homepage: String?
  let summary: String?
  /// In KiB.
  let installedSize: Int32
  /// The size of the package's file in bytes.
  let size: Int64
  let sha256: String?
  /// The names of the packages that it depends on.
  var dependencies: [String]

  init(_ stanza: Stanza, file: String) throws(StanzaError) {
    let package = try DebianPackage(stanza, file: file)
    id = ID(package: package.name, number: package.version, architecture: package.architecture)
    maintainer = stanza["Maintainer"].map(Mailbox.init)
    section = stanza["Section"]
    homepage = stanza["Homepage"]
    summary = stanza.summary
    installedSize = stanza["Installed-Size"].flatMap { Int32($0) } ?? 0
    size = stanza["Size"].flatMap { Int64($0) } ?? 0
    sha256 = stanza["SHA256"]
    dependencies = package.dependencies.map(\.target)
  }
}

/// A person or a group, as in `Debian GLib Maintainers <glib@example.org>`.
struct Mailbox: Hashable {
  let name: String
  let email: String

  init(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "<"), maxSplits: 1, omittingEmptySubsequences: false)
    name = String(Substring(parts[0].trimmed))
    email = parts.count == 2 ? String(Substring(parts[1].prefix { $0 != UInt8(ascii: ">") }.trimmed)) : ""
  }
}
