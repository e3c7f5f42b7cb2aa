import GRDB

extension GRDBContender {
  /// The tables of the same graph. Each foreign key has an index, which the database uses when a row is deleted.
  static let schema = """
    CREATE TABLE package (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE maintainer (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, UNIQUE (name, email));
    CREATE TABLE section (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE version (
      id INTEGER PRIMARY KEY, number TEXT NOT NULL, architecture TEXT NOT NULL, homepage TEXT, summary TEXT NOT NULL,
      installedSize INTEGER NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,
      package INTEGER REFERENCES package ON DELETE CASCADE,
      maintainer INTEGER REFERENCES maintainer ON DELETE SET NULL,
      section INTEGER REFERENCES section ON DELETE SET NULL);
    CREATE INDEX versionPackage ON version (package);
    CREATE INDEX versionMaintainer ON version (maintainer);
    CREATE INDEX versionSection ON version (section);
    CREATE TABLE dependency (
      version INTEGER NOT NULL REFERENCES version ON DELETE CASCADE,
      package INTEGER NOT NULL REFERENCES package ON DELETE CASCADE,
      PRIMARY KEY (version, package)) WITHOUT ROWID;
    CREATE INDEX dependencyPackage ON dependency (package, version);
    """
}

/// A row of the table of versions.
struct VersionRecord: FetchableRecord, TableRecord {
  static let databaseTableName = "version"

  let id: Int64
  let number: String
  let architecture: String
  let homepage: String?
  var summary: String
  var installedSize: Int
  let size: Int
  let sha256: String
  let package: Int64?
  let maintainer: Int64?
  let section: Int64?

  init(row: Row) {
    id = row[0]
    number = row[1]
    architecture = row[2]
    homepage = row[3]
    summary = row[4]
    installedSize = row[5]
    size = row[6]
    sha256 = row[7]
    package = row[8]
    maintainer = row[9]
    section = row[10]
  }
}
